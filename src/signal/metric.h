#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringward::signal {

/// What a rank can be doing. A step's time is the sum of its phases; self time is all but
/// kCommunicate, where ranks wait for one another.
enum class Phase : std::uint8_t {
  kData,
  kForward,
  kBackward,
  kCommunicate,
  kOptimizer,
  kCheckpoint,
  kEvaluate,
  kOther,
};
inline constexpr std::size_t kPhases = 8;

/// "data", "forward", ….
const char* NameOf(Phase phase);

/// Index into a run's MetricTable.
using MetricId = std::uint32_t;

/// The metrics that detectors know, with the same number in every table. Seconds unless said.
enum class Known : MetricId {
  kStepTime,       ///< the whole step
  kDataTime,       ///< in phase data
  kComputeTime,    ///< forward, backward, optimizer and what has no phase
  kWaitTime,       ///< in phase communicate: waiting for the others, and the transfer itself
  kLoss,           ///< of the rank's own rows, before any reduction
  kGradientNorm,   ///< of the rank's own gradient, before the reduction
  kReducedNorm,    ///< of the gradient after the reduction: the same on all ranks
  kSamples,        ///< rows of the rank in this step
  kMemory,         ///< bytes resident
  kMemoryLimit,    ///< bytes the process may hold: its own and what its host or cgroup has left
  kRetransmits,    ///< TCP segments sent again by the rank's host, per second
  kClockOffset,    ///< the host's wall clock minus the receiver's
  kParameterHash,  ///< folded to 24 bits, so that a float32 holds it: equal on replicas
  // What the rank's machine did since the rank reported it last; rates are per second.
  kCpu,             ///< cores that the process used
  kRunWait,         ///< share of the time that it could have run and had no core
  kCoreStolen,      ///< share of the time that the hypervisor took it off its core
  kCoreOthers,      ///< share of its core's time that other processes used
  kCore,            ///< number of the core it ran on last
  kPreempted,       ///< involuntary context switches
  kMajorFaults,     ///< pages read from a disk
  kStorageBytes,    ///< that it read from and wrote to storage
  kCpuPressure,     ///< share of the time that something on the host stood still for it
  kMemoryPressure,  ///< the same for memory
  kIoPressure,      ///< and for storage
  kMemoryLeft,      ///< bytes, of the host or the cgroup, whichever is nearer
  kSwapBytes,       ///< in and out
  kNetworkBytes,    ///< both ways
  kNetworkErrors,   ///< and drops
  kTemperature,     ///< degrees Celsius, the host's hottest sensor
  kRootFree,        ///< bytes free in /
  kSharedFree,      ///< in /dev/shm
  kTemporaryFree,   ///< in /tmp
  kWorkFree,        ///< where the rank works
  // Of the GPUs that the rank computes on.
  kGpu,             ///< number of the first, as the driver counts
  kGpuBusy,         ///< share of the time in which something ran on it
  kGpuMemory,       ///< bytes in use
  kGpuMemoryAll,    ///< bytes there are
  kGpuTemperature,  ///< degrees Celsius
  kGpuPower,        ///< watts
  kGpuClock,        ///< of its multiprocessors, hertz
  kGpuHeldBack,     ///< share of the time that its clock was held back: heat, or its power supply
  kGpuReasons,      ///< why it was last: NVML's bits 8 hardware, 32 and 64 heat, 128 power brake
  kGpuErrors,       ///< memory errors beyond repair since the driver began
};
inline constexpr std::size_t kKnownMetrics = 43;

inline MetricId IdOf(Known metric) { return static_cast<MetricId>(metric); }
/// "step_seconds", …: its name in recordings.
const char* NameOf(Known metric);
/// Whether a frame holds the metric's sum over its steps; of the others it holds their mean.
bool IsSummed(Known metric);

/// The names of a run's metrics; the known ones come first, others as they are met.
/// Not safe for concurrent use.
class MetricTable {
 public:
  MetricTable();
  /// The number of `name`, a new one where it is not known yet.
  MetricId Add(std::string_view name);
  /// REQUIRES: id < size().
  const std::string& NameOf(MetricId id) const { return names_[id]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
};

/// Stands where a rank has not reported a number. A NaN that no computation makes, so that a job's
/// own NaN is told from a missing report.
inline constexpr float kMissing = std::bit_cast<float>(std::uint32_t{0x7fc52574});

inline bool IsMissing(float value) {
  return std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(kMissing);
}

}  // namespace ringward::signal
