#include "ringward/watch_client.h"

#include <fmt/format.h>
#include <httplib.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "watch/http/origin.h"

namespace ringward::cli {

struct WatchClient::Connection {
  std::string url;
  httplib::Client http;
};

WatchClient::WatchClient(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}
WatchClient::WatchClient(WatchClient&&) noexcept = default;
WatchClient& WatchClient::operator=(WatchClient&&) noexcept = default;
WatchClient::~WatchClient() = default;

Result<WatchClient> WatchClient::Make(const std::string& url, const std::string& token) {
  const auto origin = watch::ParseHttpOrigin(url);
  if (!origin)
    return Error(Code::kInvalidInput, "'" + url + "' is no address like http://127.0.0.1:9188");
  auto connection =
      std::make_unique<Connection>(Connection{origin->text, httplib::Client(origin->text)});
  connection->http.set_connection_timeout(5);
  connection->http.set_read_timeout(10);
  connection->http.set_keep_alive(false);
  if (!token.empty()) connection->http.set_bearer_token_auth(token);
  return WatchClient(std::move(connection));
}

Result<Json> WatchClient::Get(const std::string& path) {
  const httplib::Result answer = connection_->http.Get(path);
  if (!answer) {
    return Error(Code::kUnavailable, connection_->url + ": no watcher answers there (" +
                                         httplib::to_string(answer.error()) + ")");
  }
  Json document = Json::parse(answer->body, nullptr, false);
  if (answer->status == 200 && document.is_object()) return document;
  const bool says =
      document.is_object() && document.contains("error") && document["error"].is_string();
  return Error(answer->status / 100 == 4 ? Code::kInvalidInput : Code::kUnavailable,
               fmt::format("{}{}: answered {}{}", connection_->url, path, answer->status,
                           says ? ": " + document["error"].get<std::string>() : ""));
}

std::string PercentEncoded(const std::string& text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace ringward::cli
