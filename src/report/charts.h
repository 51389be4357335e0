#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/axis.h"

/// Charts as self-contained <figure> elements: inline SVG, coloured by the page's style sheet.
/// Every text field may hold any bytes; it is escaped. The SVG carries <title> and <desc>, scales
/// with its column, and shows values on hover (native tooltips without JavaScript).
namespace ringward::report {

struct Point {
  double x = 0.0;
  double y = 0.0;
};

/// Points in order of x. One that an axis cannot show (NaN; not positive on a log axis) leaves a
/// gap.
struct Line {
  std::string name;  ///< for the legend; empty = not listed
  std::vector<Point> points;
  std::vector<std::string> tips;  ///< what hovering point i says; empty = x and y
  bool dashed = false;            ///< a reference rather than a result
  bool steps = false;             ///< y holds on (previous x, x]: an average-precision curve
  bool fill = false;              ///< tints the area below
};

/// A dot with a label beside it, on the side where the chart has room.
struct Marker {
  Point at;
  std::string label;
  bool above = false;  ///< the label stands above the dot; otherwise below
};

struct LineChart {
  std::string title;
  std::string description;  ///< one sentence: what the chart shows, for those who cannot see it
  AxisOptions x;
  AxisOptions y;
  std::vector<Line> lines;
  std::vector<Marker> markers;
};
std::string Draw(const LineChart& chart);

struct HistogramGroup {
  std::string name;
  std::vector<std::size_t> counts;  ///< one per bin
};

struct Histogram {
  std::string title;
  std::string description;
  AxisOptions x;                       ///< log: the edges are equally spaced on a log axis
  std::vector<double> edges;           ///< bins + 1, rising
  std::vector<HistogramGroup> groups;  ///< drawn over one another, translucent
  bool log_count = false;              ///< shows one anomaly beside 100,000 normal rows
  std::optional<double> threshold;     ///< a labelled line; the side above it is tinted
};
/// REQUIRES: edges.size() >= 2, each group's counts.size() == edges.size() - 1.
std::string Draw(const Histogram& histogram);

struct Bar {
  std::string label;
  double value = 0.0;  ///< >= 0, finite
  std::string text;    ///< what the value reads as, e.g. "12 of 40"
};

/// Horizontal bars with their names, as a table: long names wrap, screen readers read it.
struct BarChart {
  std::string title;
  std::string description;
  std::string label_header;  ///< e.g. "feature"
  std::string value_header;  ///< quantity and unit of `text`
  std::vector<Bar> bars;
  std::optional<double> full;  ///< value of a full-width bar; otherwise the largest
};
std::string Draw(const BarChart& chart);

}  // namespace ringward::report
