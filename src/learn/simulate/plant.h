#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/rng.h"

namespace ringward::learn {

/// A column of the table.
struct Sensor {
  std::string name;  ///< with its unit
  double mean = 0.0;
  double deviation = 1.0;  ///< standard deviation over weeks of normal operation, about
  double noise = 0.0;      ///< standard deviation of the reading around the true value
  int decimals = 2;
  bool moves = true;  ///< follows the load within minutes, so that others tell what it should read
};

inline constexpr std::size_t kStationSensors = 16;

/// The first `count` sensors: the station's own, then mixtures of two of those.
std::vector<Sensor> MakeSensors(std::size_t count);

/// Noise with a memory: an Ornstein-Uhlenbeck process, standard deviation 1.
class SlowNoise {
 public:
  /// `seconds` is the correlation time.
  explicit SlowNoise(double seconds) : seconds_(seconds) {}
  double Step(double interval, Rng& rng);

 private:
  double seconds_;
  double value_ = 0.0;
  bool started_ = false;
};

/// The pumping station: its state, and what its sensors read.
class Plant {
 public:
  /// `stream` tells stations of one seed apart. `sensors` must outlive the plant.
  Plant(std::span<const Sensor> sensors, std::uint64_t seed, std::uint32_t stream);

  /// Moves on to `time` (seconds since 1970), `interval` seconds after the last call, and writes
  /// every sensor's reading.
  void Step(double time, double interval, std::span<double> readings);

  /// Operating mode after the last Step: "eco", "normal", "boost" or "backwash".
  const char* mode() const;

 private:
  enum class Mode : std::uint8_t { kEco, kNormal, kBoost, kBackwash };
  struct Pump {
    double speed = 900.0;
    double current = 15.0;
    double motor = 40.0;  // temperature
  };

  void ChooseMode(double interval);
  void RunPump(Pump& pump, double load, double voltage, double interval);
  void ReadStation(std::span<double> truth) const;

  std::span<const Sensor> sensors_;
  Rng state_rng_;
  Rng noise_rng_;
  SlowNoise hours_{4 * 3600.0};
  SlowNoise minutes_{1500.0};
  SlowNoise weather_{20 * 3600.0};
  SlowNoise grid_{3600.0};
  Mode mode_ = Mode::kNormal;
  double backwash_left_ = 0.0;  // seconds
  double demand_ = 0.5;         // share of what both pumps can do
  double inflow_ = 110.0;
  double tank_ = 3.0;  // m
  double voltage_ = 398.0;
  double ambient_ = 14.0;
  Pump a_;
  Pump b_;
};

}  // namespace ringward::learn
