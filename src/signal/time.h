#pragma once

#include <chrono>

namespace ringward::signal {

/// Nanoseconds. When something was received is told since the Unix epoch, by the clock of the one
/// process that receives, never going back; silence is judged on it. A host's own time is that
/// host's monotonic clock, of use for durations on that host alone.
using Time = std::chrono::nanoseconds;

inline double Seconds(Time duration) { return std::chrono::duration<double>(duration).count(); }
/// What no Time can hold, NaN too, becomes Time::min(), which is received by nobody.
inline Time FromSeconds(double seconds) {
  constexpr double kSecondsMax = 9e9;
  if (!(seconds > -kSecondsMax && seconds < kSecondsMax)) return Time::min();
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
}

}  // namespace ringward::signal
