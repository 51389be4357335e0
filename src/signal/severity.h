#pragma once

#include <cstddef>
#include <cstdint>

namespace ringward::signal {

/// How much a job suffers from an incident.
enum class Severity : std::uint8_t {
  kWarning,   ///< it goes on, slower or worse
  kCritical,  ///< it stands still, is gone, or learns nothing any more
};
inline constexpr std::size_t kSeverities = 2;

/// "warning", "critical".
const char* NameOf(Severity severity);

}  // namespace ringward::signal
