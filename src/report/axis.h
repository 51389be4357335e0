#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ringward::report {

/// What a reader needs to know of an axis.
struct AxisOptions {
  std::string label;          ///< quantity and unit, e.g. "power (kW)"
  bool log = false;           ///< logarithmic; values that are not positive are left out
  std::optional<double> low;  ///< fixes an end; otherwise the data decides
  std::optional<double> high;
};

struct Tick {
  double value = 0.0;
  std::string label;
};

/// Maps values to pixels, linearly or logarithmically, and chooses round tick values.
class Axis {
 public:
  /// Covers `values` (those that are finite, and positive on a log axis), widened to a range that
  /// is never empty and, where an end is free, to round numbers.
  /// Pixels run from `from` at the low end to `to` at the high end; `to` may be the smaller.
  Axis(const AxisOptions& options, const std::vector<double>& values, double from, double to);

  double Pixel(double value) const;  ///< clamped to the axis
  bool Shows(double value) const;    ///< finite, and positive on a log axis
  double low() const { return low_; }
  double high() const { return high_; }
  std::vector<Tick> Ticks() const;  ///< 2 to 9 ticks inside [low, high], rising

 private:
  double Unit(double value) const;
  std::vector<Tick> LinearTicks() const;
  std::vector<Tick> LogTicks() const;

  bool log_;
  double low_ = 0.0;
  double high_ = 1.0;
  double from_;
  double to_;
};

/// The two axes of a chart.
struct Axes {
  Axis x;
  Axis y;
};

}  // namespace ringward::report
