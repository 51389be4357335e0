#pragma once

#include <cstdint>

namespace ringward::telemetry {

/// When the process began, in clock ticks since boot; 0 when there is none or it cannot be read.
/// With the pid it names a process for good: pids are reused. Allocates nothing. Any thread.
std::uint64_t ProcessStartTime(std::int32_t pid);

/// A number of the caller's pid namespace, equal for all processes in it; 0 when unknown.
std::uint64_t PidNamespace();

}  // namespace ringward::telemetry
