#pragma once

#include <cstdint>
#include <ctime>

namespace ringward::telemetry {

/// Monotonic time in nanoseconds. Answered in user space wherever the kernel's clock source is the
/// CPU's counter. Reading that counter ourselves would save 19 of 32 ns and cost a calibration
/// that drifts (docs/decisions/0007-guest.md).
inline std::int64_t NowNs() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace ringward::telemetry
