#include "watch/machine_values.h"

#include <optional>

namespace ringward::watch {

using signal::Known;

namespace {

void AddGpu(const telemetry::GpuState& gpu, std::vector<MachineValue>& values) {
  const auto add = [&](Known metric, const auto& value) {
    if (value) values.push_back({metric, static_cast<double>(*value)});
  };
  values.push_back({Known::kGpu, static_cast<double>(gpu.index)});
  add(Known::kGpuBusy, gpu.busy);
  add(Known::kGpuMemory, gpu.memory);
  add(Known::kGpuMemoryAll, gpu.memory_all);
  add(Known::kGpuTemperature, gpu.celsius);
  add(Known::kGpuPower, gpu.watts);
  add(Known::kGpuClock, gpu.sm_hertz);
  add(Known::kGpuErrors, gpu.ecc_fatal);
  if (!gpu.throttle) return;
  const std::uint64_t reasons = *gpu.throttle & telemetry::kGpuHeldBack;
  values.push_back({Known::kGpuHeldBack, reasons == 0 ? 0.0 : 1.0});
  // The last that there were: a mean of them would be none.
  if (reasons != 0) values.push_back({Known::kGpuReasons, static_cast<double>(reasons)});
}

}  // namespace

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
  if (process.gpu) AddGpu(*process.gpu, values);
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
    case Known::kGpu:
    case Known::kGpuMemory:
    case Known::kGpuMemoryAll:
    case Known::kGpuTemperature:
    case Known::kGpuErrors:
    case Known::kGpuReasons:
      return true;
    default:
      return false;
  }
}

}  // namespace ringward::watch
