#pragma once

#include <cstdint>
#include <ctime>

namespace ringward::telemetry {

inline std::int64_t ReadClock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Monotonic time in nanoseconds. Answered in user space wherever the kernel's clock source is the
/// CPU's counter. Reading that counter ourselves would save 19 of 32 ns and cost a calibration
/// that drifts (docs/decisions/0009-guest-recorder.md).
inline std::int64_t NowNs() { return ReadClock(CLOCK_MONOTONIC); }

/// The same clock as of the kernel's last tick, 1 to 10 ms ago: a few nanoseconds to read.
inline std::int64_t TickNs() { return ReadClock(CLOCK_MONOTONIC_COARSE); }

}  // namespace ringward::telemetry
