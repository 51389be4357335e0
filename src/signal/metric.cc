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
    "cpu_cores",
    "run_wait_share",
    "core_stolen_share",
    "core_others_share",
    "core",
    "preemptions_per_second",
    "major_faults_per_second",
    "storage_bytes_per_second",
    "cpu_pressure",
    "memory_pressure",
    "io_pressure",
    "memory_left_bytes",
    "swap_bytes_per_second",
    "network_bytes_per_second",
    "network_errors_per_second",
    "temperature_celsius",
    "root_free_bytes",
    "shared_free_bytes",
    "temporary_free_bytes",
    "work_free_bytes",
    "gpu",
    "gpu_busy_share",
    "gpu_memory_bytes",
    "gpu_memory_all_bytes",
    "gpu_temperature_celsius",
    "gpu_power_watts",
    "gpu_clock_hertz",
    "gpu_held_back_share",
    "gpu_held_back_reasons",
    "gpu_fatal_errors",
};

}  // namespace

const char* NameOf(Known metric) { return kKnownNames[static_cast<std::size_t>(metric)]; }

bool IsSummed(Known metric) {
  constexpr std::array kSummed = {Known::kStepTime, Known::kDataTime, Known::kComputeTime,
                                  Known::kWaitTime, Known::kSamples};
  return std::find(kSummed.begin(), kSummed.end(), metric) != kSummed.end();
}

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
