#include "watch/machine_values.h"

#include <optional>

namespace ringward::watch {

using signal::Known;

std::vector<MachineValue> MachineValuesOf(const telemetry::HostUse& host,
                                          const telemetry::ProcessSight& process) {
  std::vector<MachineValue> values;
  const auto add = [&](Known metric, const auto& value) {
    if (value) values.push_back({metric, static_cast<double>(*value)});
  };
  const telemetry::ProcessUse& use = process.use;
  add(Known::kCpu, use.cpu);
  add(Known::kRunWait, use.run_wait);
  add(Known::kPreempted, use.preempted);
  add(Known::kMajorFaults, use.major_faults);
  add(Known::kStorageBytes, use.io_bytes);
  add(Known::kMemory, use.rss_bytes);
  add(Known::kCore, use.core);
  add(Known::kCoreStolen, process.core_stolen);
  add(Known::kCoreOthers, process.core_others);
  add(Known::kMemoryLeft, process.memory_left);
  add(Known::kWorkFree, process.work_free);
  std::optional<double> limit;
  if (use.rss_bytes && process.memory_left) limit = *use.rss_bytes + *process.memory_left;
  add(Known::kMemoryLimit, limit);
  add(Known::kCpuPressure, host.cpu_pressure);
  add(Known::kMemoryPressure, host.memory_pressure);
  add(Known::kIoPressure, host.io_pressure);
  add(Known::kSwapBytes, host.swap_bytes);
  add(Known::kNetworkBytes, host.network_bytes);
  add(Known::kNetworkErrors, host.network_errors);
  add(Known::kRetransmits, host.retransmits);
  add(Known::kTemperature, host.temperature);
  add(Known::kRootFree, host.root_free);
  add(Known::kSharedFree, host.shared_free);
  add(Known::kTemporaryFree, host.temporary_free);
  return values;
}

bool IsLevel(Known metric) {
  switch (metric) {
    case Known::kMemory:
    case Known::kMemoryLimit:
    case Known::kMemoryLeft:
    case Known::kCore:
    case Known::kTemperature:
    case Known::kRootFree:
    case Known::kSharedFree:
    case Known::kTemporaryFree:
    case Known::kWorkFree:
      return true;
    default:
      return false;
  }
}

}  // namespace ringward::watch
