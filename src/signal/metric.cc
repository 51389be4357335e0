#include "signal/metric.h"

#include <algorithm>

#include "base/check.h"

namespace ringward::signal {
namespace {

// In the order of Known.
constexpr std::array<const char*, kKnownMetrics> kKnownNames = {
    "step_seconds",
    "data_seconds",
    "compute_seconds",
    "wait_seconds",
    "local_loss",
    "local_grad_norm",
    "grad_norm",
    "samples",
    "memory_bytes",
    "memory_limit_bytes",
    "retransmits_per_second",
    "clock_offset_seconds",
    "parameter_hash",
};

}  // namespace

MetricTable::MetricTable() : names_(kKnownNames.begin(), kKnownNames.end()) {}

MetricId MetricTable::Add(std::string_view name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    names_.emplace_back(name);
    return static_cast<MetricId>(names_.size() - 1);
  }
  return static_cast<MetricId>(found - names_.begin());
}

}  // namespace ringward::signal
