#include "report/axis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/text.h"

namespace ringward::report {
namespace {

constexpr double kTicksWanted = 5.0;
constexpr double kFewDecades = 2.5;  // up to here a log axis also labels 2 and 5 of each decade

/// The round step (1, 2 or 5 times a power of ten) that cuts `range` into about kTicksWanted.
double RoundStep(double range) {
  const double raw = range / kTicksWanted;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  const double mantissa = raw / power;
  return power * (mantissa < 1.5 ? 1.0 : mantissa < 3.5 ? 2.0 : mantissa < 7.5 ? 5.0 : 10.0);
}

/// The nearest 1, 2 or 5 times a power of ten at or beyond `value`, upwards or downwards.
double RoundMantissa(double value, bool up) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  const double mantissa = value / power;
  for (const double round : {1.0, 2.0, 5.0, 10.0}) {
    if (up && mantissa <= round * (1.0 + 1e-9)) return round * power;
  }
  return (mantissa >= 5.0 ? 5.0 : mantissa >= 2.0 ? 2.0 : 1.0) * power;
}

/// 1,200,000 is too wide for an axis: 1.2M.
std::string TickLabel(double value) {
  const double magnitude = std::abs(value);
  if (magnitude >= 1e6 && magnitude < 1e9) return FormatNumber(value / 1e6, 4) + "M";
  if (magnitude >= 1e4 && magnitude < 1e6) return FormatNumber(value / 1e3, 4) + "k";
  return FormatNumber(value, 6);
}

}  // namespace

Axis::Axis(const AxisOptions& options, const std::vector<double>& values, double from, double to)
    : log_(options.log), from_(from), to_(to) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double value : values) {
    if (!Shows(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) low = high = 1.0;
  low_ = options.low.value_or(low);
  high_ = options.high.value_or(high);
  if (!(low_ < high_)) {
    const double half = log_ ? 0.0 : std::max(std::abs(low_) * 0.5, 0.5);
    high_ = log_ ? low_ * 2.0 : low_ + half;
    low_ = log_ ? low_ / 2.0 : low_ - half;
  }
  if (log_) {
    if (std::log10(high_ / low_) > kFewDecades) return;
    if (!options.low) low_ = RoundMantissa(low_, false);
    if (!options.high) high_ = RoundMantissa(high_, true);
    return;
  }
  const double step = RoundStep(high_ - low_);
  if (!options.low) low_ = std::floor(low_ / step + 1e-9) * step;
  if (!options.high) high_ = std::ceil(high_ / step - 1e-9) * step;
}

bool Axis::Shows(double value) const { return std::isfinite(value) && (!log_ || value > 0.0); }

double Axis::Unit(double value) const {
  if (!log_) return (value - low_) / (high_ - low_);
  return std::log(std::max(value, low_) / low_) / std::log(high_ / low_);
}

double Axis::Pixel(double value) const {
  return from_ + (to_ - from_) * std::clamp(Unit(value), 0.0, 1.0);
}

std::vector<Tick> Axis::Ticks() const { return log_ ? LogTicks() : LinearTicks(); }

std::vector<Tick> Axis::LinearTicks() const {
  const double step = RoundStep(high_ - low_);
  std::vector<Tick> ticks;
  for (double i = std::ceil(low_ / step - 1e-9); i * step <= high_ + step * 1e-9; ++i) {
    ticks.push_back({i * step, TickLabel(i * step)});
  }
  return ticks;
}

std::vector<Tick> Axis::LogTicks() const {
  const double decades = std::log10(high_ / low_);
  if (decades < 0.8) return LinearTicks();
  const int first = static_cast<int>(std::floor(std::log10(low_)));
  const int last = static_cast<int>(std::ceil(std::log10(high_)));
  const int every = std::max(1, static_cast<int>(std::ceil(decades / kTicksWanted)));
  std::vector<Tick> ticks;
  for (int exponent = first; exponent <= last; exponent += every) {
    for (const double mantissa : {1.0, 2.0, 5.0}) {
      if (mantissa > 1.0 && decades > kFewDecades) break;
      const double value = mantissa * std::pow(10.0, exponent);
      if (value < low_ * (1.0 - 1e-9) || value > high_ * (1.0 + 1e-9)) continue;
      ticks.push_back({value, TickLabel(value)});
    }
  }
  return ticks;
}

}  // namespace ringward::report
