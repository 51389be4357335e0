#pragma once

#include <optional>
#include <string_view>

namespace ringward::ingest {

/// A date and time of ISO 8601 or close to it as Unix seconds: `2026-01-05T10:00:00.250Z`,
/// `2026-01-05 10:00:00,250`, `2026/01/05 10:00+02:00`. Without a zone it is UTC. Nothing for any
/// other text.
std::optional<double> ParseClock(std::string_view text);

/// Seconds of the unit in which `typical` is a Unix time of our days: of 1, milli-, micro- or
/// nanoseconds. Anything below 1e11 is taken as seconds.
double ClockUnit(double typical);

}  // namespace ringward::ingest
