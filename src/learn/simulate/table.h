#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learn/simulate/fault.h"

namespace ringward::learn {

/// A table of sensor readings of a pumping station with planted faults.
///
/// Two pumps lift water from a tank that an inflow fills. Demand has a daily and a weekly rhythm
/// and fluctuations of hours and minutes; pressures, speeds, currents, temperatures, vibration and
/// power follow from it and from the operating mode, each with its own noise. The station itself is
/// the same for every seed: a table with one seed trains a model that judges a table with another.
struct SimulateTableOptions {
  std::uint64_t rows = 20'000;         ///< 1 .. 1,000,000,000
  int sensors = 16;                    ///< 4 .. 1,000; those above 16 are mixtures of others
  double anomalies = 0.02;             ///< share of anomalous rows, 0 .. 0.5
  std::vector<FaultKind> kinds;        ///< planted in equal shares; empty = all
  double missing = 0.002;              ///< share of empty sensor cells, 0 .. 0.5
  std::int64_t start = 1'767'571'200;  ///< first row's time, seconds since 1970 (a Monday, 00:00)
  std::int64_t interval = 300;         ///< seconds between rows, 1 .. 86,400
  std::uint64_t seed = 0;
};

struct SimulateTableSummary {
  std::uint64_t rows = 0;
  std::uint64_t anomalous_rows = 0;
  std::array<std::uint64_t, kFaultKinds> rows_of_kind{};    ///< by FaultKind
  std::array<std::uint64_t, kFaultKinds> events_of_kind{};  ///< runs of rows
  std::vector<std::string> columns;
};

/// Takes whole lines, in order; an error ends the simulation with it.
using LineSink = std::function<Status(std::string_view)>;

/// Writes the table as CSV with a header:
///   timestamp (ISO 8601, UTC), the sensors, mode, label (0 or 1), kind, faulty_sensor.
/// `kind` is "normal" or a fault's name; `faulty_sensor` is "none" or the sensor at fault.
/// Each purpose has random numbers of its own, so that the same seed with `anomalies` 0 is the same
/// table without the faults. Memory does not grow with rows, but for ~100 bytes per planted event.
/// Fails with kInvalidInput naming the option that is out of its range, or as the sink does.
Result<SimulateTableSummary> SimulateTable(const SimulateTableOptions& options,
                                           const LineSink& sink);

/// "2026-01-05T00:00:00Z" or "2026-01-05" as seconds since 1970, years 1970 to 9999; kInvalidInput
/// otherwise.
Result<std::int64_t> ParseUtc(std::string_view text);

/// Seconds since 1970, not negative, as "2026-01-05T00:00:00Z".
std::string FormatUtc(std::int64_t seconds);

}  // namespace ringward::learn
