#include "watch/http/router.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "ringward/cli/json.h"

namespace ringward::watch {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// "%41" becomes "A"; a '+' stays what it is, in queries too.
std::optional<std::string> Decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    if (text.size() - at < 3) return std::nullopt;
    const int high = HexDigit(text[at + 1]);
    const int low = HexDigit(text[at + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return out;
}

std::vector<std::string_view> Split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(by);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool IsAny(std::string_view part) { return part.starts_with('{'); }

/// The parts that stand for "{…}", where the path is of the pattern.
std::optional<std::vector<std::string>> Match(const std::vector<std::string>& pattern,
                                              const std::vector<std::string_view>& path) {
  if (pattern.size() != path.size()) return std::nullopt;
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < path.size(); ++at) {
    // The whole path was decoded before, so this cannot fail.
    std::string part = Decoded(path[at]).value_or("");
    if (IsAny(pattern[at])) {
      parts.push_back(std::move(part));
    } else if (part != pattern[at]) {
      return std::nullopt;
    }
  }
  return parts;
}

}  // namespace

HttpResponse HttpError(unsigned status, std::string_view what) {
  return {.status = status, .body = cli::DumpJsonLine({{"error", what}}) + "\n"};
}

Result<HttpRequest> ParseTarget(std::string_view target) {
  if (!target.starts_with('/')) return Error(Code::kInvalidInput, "a path begins with /");
  const std::size_t mark = target.find('?');
  HttpRequest request;
  request.path = target.substr(0, mark);
  if (!Decoded(request.path)) return Error(Code::kInvalidInput, "a broken escape in the path");
  if (mark == std::string_view::npos) return request;
  for (const std::string_view pair : Split(target.substr(mark + 1), '&')) {
    const std::size_t sign = pair.find('=');
    const auto name = Decoded(pair.substr(0, sign));
    const auto value =
        Decoded(sign == std::string_view::npos ? std::string_view() : pair.substr(sign + 1));
    if (!name || !value) return Error(Code::kInvalidInput, "a broken escape in the query");
    if (!pair.empty()) request.query[*name] = *value;
  }
  return request;
}

void Router::Add(std::string_view pattern, Handler handler, Access access) {
  const auto parts = Split(pattern, '/');
  routes_.push_back({{parts.begin(), parts.end()}, std::move(handler), access});
}

void Router::AddPost(std::string_view pattern, Handler handler, std::string_view content_type,
                     std::size_t body_most, Access access) {
  Add(pattern, std::move(handler), access);
  routes_.back().content_type = content_type;
  routes_.back().body_most = body_most;
}

std::size_t Router::body_most() const {
  std::size_t most = 0;
  for (const Route& route : routes_) most = std::max(most, route.body_most);
  return most;
}

const Router::Route& Router::Find(HttpRequest& request) const {
  const auto path = Split(request.path, '/');
  const Route* found = &fallback_;
  for (const Route& route : routes_) {
    auto parts = Match(route.pattern, path);
    if (!parts) continue;
    request.parts = *std::move(parts);
    found = &route;
    if (request.post == (route.body_most != 0)) break;
  }
  return *found;
}

}  // namespace ringward::watch
