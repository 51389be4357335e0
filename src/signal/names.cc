#include <array>

#include "signal/cause.h"
#include "signal/finding.h"
#include "signal/metric.h"
#include "signal/severity.h"

namespace ringward::signal {

const char* NameOf(Phase phase) {
  constexpr std::array<const char*, kPhases> kNames = {
      "data", "forward", "backward", "communicate", "optimizer", "checkpoint", "evaluate", "other"};
  return kNames[static_cast<std::size_t>(phase)];
}

const char* NameOf(FindingKind kind) {
  constexpr std::array<const char*, kFindingKinds> kNames = {
      "rank-slow",    "rank-tail",       "stage-slow",     "all-slow",          "wait-slow",
      "uneven-work",  "rank-stalled",    "rank-silent",    "rank-ended",        "source-lost",
      "non-finite",   "loss-spike",      "loss-diverging", "gradient-explodes", "gradient-vanishes",
      "rank-apart",   "replicas-differ", "memory-trend",   "retransmits",       "clock-skew",
      "rank-starved", "host-busy",       "host-swaps",     "memory-runs-out",   "disk-runs-out",
      "all-wait",     "rank-throttled",  "gpu-errors",     "threshold",         "unusual",
      "blind",        "host-lost",       "rank-error"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* NameOf(Category category) {
  constexpr std::array<const char*, kCategories> kNames = {
      "communication", "compute",       "data-io",  "resource-contention", "memory",
      "numerics",      "configuration", "hardware", "preemption",          "process-crash"};
  return kNames[static_cast<std::size_t>(category)];
}

const char* NameOf(Severity severity) {
  return severity == Severity::kCritical ? "critical" : "warning";
}

const char* NameOf(Remedy remedy) {
  constexpr std::array<const char*, 5> kNames = {"none", "restart", "exclude-host", "fix-config",
                                                 "rollback"};
  return kNames[static_cast<std::size_t>(remedy)];
}

}  // namespace ringward::signal
