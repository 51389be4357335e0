#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"
#include "learn/simulate/plant.h"

namespace ringward::learn {

/// What goes wrong with one sensor. Only a spike is plain in the sensor's own histogram; the others
/// stay within or near its usual range and contradict the other sensors.
enum class FaultKind : std::uint8_t {
  kDrift,             ///< wanders off steadily, up to 1.2 - 2.2 standard deviations
  kSpike,             ///< 3 - 6 standard deviations, for 1 to 3 rows
  kCorrelationBreak,  ///< shows what a station in another state would read
  kStuckSensor,       ///< repeats its last reading while the station moves on
  kLevelShift,        ///< is off by 1.0 - 1.8 standard deviations at once
  kNoiseBurst,        ///< scatters by 0.6 - 1.2 standard deviations
};
inline constexpr std::size_t kFaultKinds = 6;

/// Its name in tables and options, e.g. "stuck-sensor".
const char* NameOf(FaultKind kind);

/// One fault: rows [start, start + length) of one sensor.
struct FaultEvent {
  FaultKind kind = FaultKind::kDrift;
  std::size_t sensor = 0;
  std::uint64_t start = 0;
  std::uint64_t length = 1;
  double size = 0.0;  ///< signed, in the sensor's standard deviations; kinds without a size: 0
};

/// Plants events of the kinds, in order of start, without overlap: exactly `anomalous` of `rows`
/// rows are inside one, shared among the kinds as equally as whole rows allow.
/// REQUIRES: anomalous <= rows, kinds and sensors not empty, the first sensor moves.
std::vector<FaultEvent> PlanFaults(std::uint64_t rows, std::uint64_t anomalous,
                                   std::span<const FaultKind> kinds,
                                   std::span<const Sensor> sensors, std::uint64_t seed);

/// Gives what the sensors at fault report. Call once a row.
class FaultInjector {
 public:
  FaultInjector(std::span<const Sensor> sensors, std::uint64_t seed);

  /// Changes `readings` where `event` (null: none) is under way at `row`. `elsewhere` are readings
  /// of a like station in another state.
  void Apply(const FaultEvent* event, std::uint64_t row, std::span<const double> elsewhere,
             std::span<double> readings);

 private:
  std::span<const Sensor> sensors_;
  Rng rng_;
  std::vector<double> last_;  // true readings of the row before; empty before the first
  double held_ = 0.0;         // what the stuck sensor repeats
};

}  // namespace ringward::learn
