#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ringward::telemetry {

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

/// What one GPU tells of itself; nothing in what it or its driver does not.
struct GpuState {
  std::uint32_t index = 0;           ///< as NVML counts
  std::optional<double> busy;        ///< share of the time in which a kernel ran, [0, 1]
  std::optional<double> memory;      ///< bytes in use
  std::optional<double> memory_all;  ///< bytes there are
  std::optional<double> celsius;
  std::optional<double> watts;
  std::optional<double> sm_hertz;          ///< clock of its multiprocessors now
  std::optional<std::uint64_t> throttle;   ///< why the clock is held back: bits, as NVML has them
  std::optional<std::uint64_t> ecc_fatal;  ///< memory errors beyond repair since the driver began
  std::vector<std::int32_t> pids;          ///< processes that compute on it, as the host counts
};

/// Of GpuState::throttle: the reasons that a healthy GPU at work has not: slowed by its hardware
/// (8), for heat (32 by software, 64 by hardware), by the power supply's brake (128). A GPU that
/// rests, or is at the power it may draw, is not held back.
inline constexpr std::uint64_t kGpuHeldBack = 0x8U | 0x20U | 0x40U | 0x80U;

/// The driver's library, loaded at run time: a machine without it needs nothing of it. Every call
/// may hang with the driver, so they belong on a thread of their own. Not safe for concurrent use.
class Nvml {
 public:
  /// kUnavailable: there is no such library here. kCorrupt: it lacks what all versions have.
  static Result<Nvml> Load(const std::string& path);

  /// Once, before Read(); End() after it where it succeeded. kUnavailable: no driver, or no GPU.
  /// kResource: the driver said no.
  Status Begin() const;
  /// All GPUs, 64 at most; one that is lost is left out.
  std::vector<GpuState> Read() const;
  void End() const;

 private:
  struct Functions;
  explicit Nvml(const Functions* functions) : functions_(functions) {}
  GpuState StateOf(void* device, std::uint32_t index) const;
  const Functions* functions_;  ///< lives as long as the program: so does the library
};

}  // namespace ringward::telemetry
