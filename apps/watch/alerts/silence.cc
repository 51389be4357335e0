#include "watch/alerts/silence.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ringward::watch {
namespace {

constexpr std::array<std::string_view, 5> kKeys = {"job", "cause", "category", "severity", "rank"};

bool Fits(std::string_view pattern, std::string_view text) {
  if (!pattern.ends_with('*')) return pattern == text;
  pattern.remove_suffix(1);
  return text.starts_with(pattern);
}

}  // namespace

Result<Silence> Silence::Parse(const std::string& text) {
  Silence silence;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view part = rest.substr(0, comma);
    const std::size_t equals = part.find('=');
    const std::string_view key = part.substr(0, std::min(equals, part.size()));
    const bool known = std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
    if (!known || equals == std::string_view::npos || equals + 1 == part.size()) {
      return Error(
          Code::kInvalidInput,
          "'" + text + "' is not KEY=VALUE,… with keys job, cause, category, severity, rank");
    }
    silence.parts_.push_back({std::string(key), std::string(part.substr(equals + 1))});
    if (comma == rest.size()) return silence;
    rest.remove_prefix(comma + 1);
  }
}

bool Silence::Matches(const Alert& alert) const {
  const auto fits = [&](const Part& part) {
    if (part.key == "job") return Fits(part.value, alert.job);
    if (part.key == "cause") return Fits(part.value, alert.cause.cause);
    if (part.key == "category") return Fits(part.value, NameOf(alert.cause.category));
    if (part.key == "severity") return Fits(part.value, NameOf(alert.cause.severity));
    return std::any_of(alert.cause.culprit_ranks.begin(), alert.cause.culprit_ranks.end(),
                       [&](std::int32_t rank) { return Fits(part.value, std::to_string(rank)); });
  };
  return std::all_of(parts_.begin(), parts_.end(), fits);
}

}  // namespace ringward::watch
