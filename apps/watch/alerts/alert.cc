#include "watch/alerts/alert.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace ringward::watch {

const char* NameOf(Severity severity) {
  return severity == Severity::kCritical ? "critical" : "warning";
}

Severity SeverityOf(const std::string& cause) {
  constexpr std::array<std::string_view, 10> kCritical = {
      "rank-frozen",   "network-stalled",   "rank-stalled",   "killed",
      "non-finite",    "replicas-differ",   "loss-diverging", "memory-runs-out",
      "disk-runs-out", "gradient-explosion"};
  const bool critical = std::find(kCritical.begin(), kCritical.end(), cause) != kCritical.end();
  return critical ? Severity::kCritical : Severity::kWarning;
}

std::string LineOf(const Alert& alert) {
  return fmt::format("[{}] {}: {}: {}",
                     alert.over && !alert.first ? "resolved" : NameOf(alert.severity), alert.job,
                     alert.cause.cause, alert.cause.summary);
}

}  // namespace ringward::watch
