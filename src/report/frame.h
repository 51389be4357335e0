#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/axis.h"

/// What every SVG chart of the module shares: its size, its axes, its surroundings.
namespace ringward::report {

// The drawing's size in SVG units, and the plot's rectangle inside it.
inline constexpr double kChartWidth = 520.0;
inline constexpr double kChartHeight = 310.0;
inline constexpr double kPlotLeft = 56.0;
inline constexpr double kPlotRight = 506.0;
inline constexpr double kPlotTop = 22.0;
inline constexpr double kPlotBottom = 258.0;

/// An entry of a legend; `swatch` is SVG inside a 22 x 10 view box.
struct LegendEntry {
  std::string name;
  std::string swatch;
};

/// Wraps `marks` (SVG) in <figure> with caption, legend, title and description.
std::string FigureOf(std::string_view title, std::string_view description,
                     const std::vector<LegendEntry>& legend, std::string_view marks);

/// Grid lines, tick labels and the axes' names.
std::string DrawAxes(const Axis& x, const Axis& y, const AxisOptions& x_options,
                     std::string_view y_label);

/// A transparent rectangle over the plot's height that says `tip` when hovered.
std::string HitBand(double left, double right, std::string_view tip);

/// A coordinate with as many digits as can be seen.
std::string Coordinate(double value);

}  // namespace ringward::report
