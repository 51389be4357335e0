#include "learn/simulate/plant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace ringward::learn {
namespace {

constexpr double kDay = 86'400.0;
constexpr double kFlowFull = 220.0;       // m3/h at demand 1
constexpr double kTankArea = 180.0;       // m2
constexpr double kMotorSeconds = 2400.0;  // time constant of a motor's temperature
constexpr double kIntervalMax = 300.0;    // longest step of the slow equations

// Mean and deviation were measured over four simulated weeks (table_test.cc holds them to it).
const std::array<Sensor, kStationSensors> kStation{{
    {"flow_m3h", 105.0, 31.0, 1.6, 1, true},
    {"inflow_m3h", 105.0, 23.5, 1.8, 1, true},
    {"tank_level_m", 3.06, 0.18, 0.008, 3, false},
    {"suction_pressure_bar", 0.476, 0.056, 0.006, 3, true},
    {"discharge_pressure_bar", 4.59, 0.25, 0.03, 2, true},
    {"pump_a_speed_rpm", 1157.0, 58.0, 5.0, 0, true},
    {"pump_b_speed_rpm", 950.0, 173.0, 5.0, 0, true},
    {"pump_a_current_a", 24.6, 2.7, 0.3, 2, true},
    {"pump_b_current_a", 17.2, 5.7, 0.3, 2, true},
    {"motor_a_temp_c", 43.1, 5.3, 0.15, 1, false},
    {"motor_b_temp_c", 36.8, 7.6, 0.15, 1, false},
    {"pump_a_vibration_mm_s", 1.9, 0.2, 0.05, 2, true},
    {"pump_b_vibration_mm_s", 1.43, 0.34, 0.05, 2, true},
    {"power_kw", 24.8, 4.3, 0.2, 2, true},
    {"voltage_v", 397.2, 2.0, 0.3, 1, false},
    {"ambient_temp_c", 14.1, 4.4, 0.1, 1, false},
}};

/// The rhythm of demand: a peak in the morning, a higher one in the evening, calmer weekends.
double DemandRhythm(double time) {
  const double turn = 2.0 * std::numbers::pi * std::fmod(time, kDay) / kDay;
  const double hour = 2.0 * std::numbers::pi / 24.0;
  const auto day = static_cast<std::int64_t>(std::floor(time / kDay));
  const bool weekend = (day + 3) % 7 >= 5;  // day 0 of 1970 was a Thursday
  return (0.5 + 0.15 * std::cos(turn - 17.0 * hour) + 0.10 * std::cos(2.0 * (turn - 7.5 * hour))) *
         (weekend ? 0.88 : 1.0);
}

double Cube(double x) { return x * x * x; }

/// Vibration grows with speed and has a resonance near 1,200 rpm.
double Vibration(double speed) {
  const double off = (speed - 1200.0) / 60.0;
  return 0.7 + 1.5 * (speed / 1450.0) * (speed / 1450.0) + 0.35 * std::exp(-0.5 * off * off);
}

}  // namespace

std::vector<Sensor> MakeSensors(std::size_t count) {
  std::vector<Sensor> sensors(
      kStation.begin(),
      kStation.begin() + static_cast<std::ptrdiff_t>(std::min(count, kStationSensors)));
  for (std::size_t i = kStationSensors; i < count; ++i) {
    sensors.push_back({fmt::format("aux_{:02}", i - kStationSensors + 1), 0.0, 1.0, 0.08, 3, true});
  }
  return sensors;
}

double SlowNoise::Step(double interval, Rng& rng) {
  const double keep = started_ ? std::exp(-interval / seconds_) : 0.0;
  started_ = true;
  value_ = keep * value_ + std::sqrt(1.0 - keep * keep) * rng.Normal();
  return value_;
}

Plant::Plant(std::span<const Sensor> sensors, std::uint64_t seed, std::uint32_t stream)
    : sensors_(sensors),
      state_rng_(seed, RngPurpose::kSimulate, 0, stream),
      noise_rng_(seed, RngPurpose::kSimulate, 1, stream) {}

const char* Plant::mode() const {
  static constexpr const char* kNames[] = {"eco", "normal", "boost", "backwash"};
  return kNames[static_cast<std::size_t>(mode_)];
}

/// Modes switch with hysteresis; a backwash comes about twice a day and lasts 40 minutes.
void Plant::ChooseMode(double interval) {
  const bool starts = state_rng_.Uniform() < interval / (12 * 3600.0);
  if (starts && backwash_left_ <= 0.0) backwash_left_ = 2400.0;
  if (backwash_left_ > 0.0) {
    backwash_left_ -= interval;
    mode_ = Mode::kBackwash;
    return;
  }
  if (mode_ == Mode::kBackwash) mode_ = Mode::kNormal;
  if (demand_ > 0.62) mode_ = Mode::kBoost;
  if (demand_ < 0.38) mode_ = Mode::kEco;
  if (mode_ == Mode::kBoost && demand_ < 0.57) mode_ = Mode::kNormal;
  if (mode_ == Mode::kEco && demand_ > 0.43) mode_ = Mode::kNormal;
}

void Plant::RunPump(Pump& pump, double load, double voltage, double interval) {
  pump.speed = 500.0 + 1000.0 * std::sqrt(std::max(load, 0.0));
  pump.current = (6.0 + 36.0 * Cube(pump.speed / 1450.0)) * 400.0 / voltage;
  const double settled = ambient_ + 8.0 + 0.85 * pump.current;
  pump.motor += (settled - pump.motor) * (1.0 - std::exp(-interval / kMotorSeconds));
}

void Plant::Step(double time, double interval, std::span<double> readings) {
  const double rhythm = DemandRhythm(time);
  const double hours = hours_.Step(interval, state_rng_);
  demand_ =
      std::clamp(rhythm + 0.05 * hours + 0.07 * minutes_.Step(interval, state_rng_), 0.1, 1.1);
  ChooseMode(interval);
  const double flow = demand_ * (mode_ == Mode::kBackwash ? 0.7 : 1.0);
  const double turn = 2.0 * std::numbers::pi * (std::fmod(time, kDay) / kDay - 15.0 / 24.0);
  ambient_ = 14.0 + 5.0 * std::cos(turn) + 2.5 * weather_.Step(interval, state_rng_);
  voltage_ = 401.0 - 8.0 * demand_ + 1.6 * grid_.Step(interval, state_rng_);
  // Long intervals are walked in short steps: the tank's controller would overshoot.
  for (double left = interval; left > 0.0; left -= kIntervalMax) {
    const double step = std::min(left, kIntervalMax);
    inflow_ = std::max(
        0.0, kFlowFull * (0.5 + 0.5 * (rhythm - 0.5) + 0.03 * hours) + 60.0 * (3.0 - tank_));
    tank_ += step / 3600.0 * (inflow_ - kFlowFull * flow) / kTankArea;
    tank_ = std::clamp(tank_, 1.0, 5.0);
  }
  // Share of the second pump: nearly idle in eco, its full half in boost.
  const double share = mode_ == Mode::kEco ? 0.1 : mode_ == Mode::kBoost ? 0.5 : 0.35;
  RunPump(a_, flow * (1.0 - share) * 1.4, voltage_, interval);
  RunPump(b_, flow * share * 1.4, voltage_, interval);
  ReadStation(readings);
  for (std::size_t i = 0; i < readings.size(); ++i) {
    readings[i] += sensors_[i].noise * noise_rng_.Normal();
  }
}

void Plant::ReadStation(std::span<double> truth) const {
  const double flow = demand_ * (mode_ == Mode::kBackwash ? 0.7 : 1.0);
  static constexpr double kSetpoint[] = {4.4, 4.9, 5.3, 4.2};  // bar, by mode
  const double pressure = kSetpoint[static_cast<std::size_t>(mode_)] - 0.9 * flow * flow;
  const double power = std::numbers::sqrt3 * voltage_ * (a_.current + b_.current) * 0.86 / 1000.0;
  const std::array<double, kStationSensors> station{kFlowFull * flow,
                                                    inflow_,
                                                    tank_,
                                                    0.25 + 0.0981 * tank_ - 0.3 * flow * flow,
                                                    pressure,
                                                    a_.speed,
                                                    b_.speed,
                                                    a_.current,
                                                    b_.current,
                                                    a_.motor,
                                                    b_.motor,
                                                    Vibration(a_.speed),
                                                    Vibration(b_.speed),
                                                    power,
                                                    voltage_,
                                                    ambient_};
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (i < kStationSensors) {
      truth[i] = station[i];
      continue;
    }
    const std::size_t first = i * 7 % kStationSensors;
    const std::size_t second = (i * 5 + 3) % kStationSensors;
    const auto standard = [&station](std::size_t k) {
      return (station[k] - kStation[k].mean) / kStation[k].deviation;
    };
    const double weight = 0.3 + 0.05 * static_cast<double>(i % 9);
    truth[i] = weight * standard(first) + (1.0 - weight) * std::tanh(standard(second));
  }
}

}  // namespace ringward::learn
