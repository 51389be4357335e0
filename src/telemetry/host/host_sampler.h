#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "telemetry/host/cgroup_memory.h"
#include "telemetry/host/gpu_watch.h"
#include "telemetry/host/host_files.h"
#include "telemetry/host/kept_file.h"
#include "telemetry/host/process_sampler.h"

namespace ringward::telemetry {

/// Shares of a core's time between two samples, in [0, 1].
struct CoreUse {
  double busy = 0.0;
  double iowait = 0.0;
  double stolen = 0.0;  ///< by the hypervisor
};

/// What a machine did between two samples; nothing in what the kernel does not tell.
struct HostUse {
  std::map<std::uint32_t, CoreUse> cores;
  /// Share of the time in which some task stood still for want of it.
  std::optional<double> cpu_pressure, memory_pressure, io_pressure;
  std::optional<double> memory_available;  ///< bytes that programs can still get without swapping
  std::optional<double> swap_bytes;        ///< a second, in and out
  std::optional<double> network_bytes;     ///< a second, both ways, all links but the loopback
  std::optional<double> network_errors;    ///< a second, and drops
  std::optional<double> retransmits;       ///< TCP segments a second
  std::optional<double> temperature;       ///< degrees Celsius, the hottest sensor
  std::optional<double> root_free, shared_free, temporary_free;  ///< bytes in /, /dev/shm and /tmp
};

/// What a process can see of its machine.
struct ProcessSight {
  ProcessUse use;
  std::optional<double>
      core_stolen;  ///< share of the time that the hypervisor took it off its core
  std::optional<double> core_others;  ///< share of its core's time that other processes used
  std::optional<double>
      memory_left;                  ///< bytes until the host's or a control group's memory is used
  std::optional<double> work_free;  ///< bytes free where it works; local file systems only
  std::optional<GpuState> gpu;      ///< that it computes on; of several, joined
};

/// Several GPUs of one process as one: the lowest index, the mean of how busy they are, sums of
/// memory, power and errors, the hottest, the slowest clock, all reasons to hold it back.
/// REQUIRES: states is not empty.
GpuState Joined(const std::vector<const GpuState*>& states);

/// Reads what a Linux machine and some of its processes do, cheaply enough to do it each second:
/// files stay open, and what the kernel has not is left out for good. Network file systems are not
/// asked, since they may never answer. A process is taken to stay on the core where it was seen
/// last. Not safe for concurrent use.
class HostSampler {
 public:
  /// `root` is "", or a test's stand-in for the file system's root; `nvml` the GPUs' library.
  explicit HostSampler(std::string root = "", const std::string& nvml = kNvmlLibrary);

  /// From the next sample on; nothing where it is followed.
  void Follow(std::int32_t pid);
  void Forget(std::int32_t pid) { processes_.erase(pid); }
  /// Takes a sample at `now` of a monotonic clock. Rates are those since the sample before; there
  /// are none in the first.
  void Sample(Clock::Duration now);

  const HostUse& host() const { return host_; }
  const GpuWatch& gpus() const { return gpus_; }
  /// Of the last sample; empty where the process is not followed or gone.
  ProcessSight Of(std::int32_t pid) const;

 private:
  struct Process {
    ProcessSampler sampler;
    const CgroupMemory* memory;
    std::string work;  ///< where it works; empty: not to be asked
    ProcessSight sight{};
  };
  struct Counts {
    std::vector<CoreTimes> cores{};
    std::optional<std::uint64_t> cpu{}, memory{}, io{}, swapped{}, retransmits{};
    std::optional<LinkCounts> links{};
  };

  std::optional<std::uint64_t> NumberIn(const KeptFile& file, const char* key);
  const CgroupMemory* MemoryOf(const CgroupPaths& paths);
  std::string WorkOf(const std::string& folder);
  Counts Count();
  void TakeRates(const Counts& now, double seconds);
  void TakeCores(const std::vector<CoreTimes>& now);
  void TakeTemperature();
  void SeeCore(Process& process) const;
  std::optional<GpuState> GpuOf(std::int32_t pid) const;

  std::string root_;
  std::vector<char> buffer_;
  KeptFile stat_, cpu_, memory_, io_, meminfo_, vmstat_, links_, snmp_;
  std::vector<KeptFile> sensors_;
  std::map<std::string, std::unique_ptr<CgroupMemory>> groups_;  ///< by their paths
  std::map<std::int32_t, Process> processes_;
  GpuWatch gpus_;
  HostUse host_;
  std::optional<Counts> before_;
  Clock::Duration before_at_{};
  std::uint64_t samples_ = 0;
};

}  // namespace ringward::telemetry
