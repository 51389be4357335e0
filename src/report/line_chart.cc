#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/charts.h"
#include "report/frame.h"
#include "report/text.h"

namespace ringward::report {
namespace {

constexpr std::size_t kColours = 4;
constexpr double kHitWidthMin = 5.0;  // SVG units; narrower bands cannot be aimed at

Axes AxesOf(const LineChart& chart) {
  std::vector<double> x;
  std::vector<double> y;
  for (const Line& line : chart.lines) {
    for (const Point& point : line.points) {
      x.push_back(point.x);
      y.push_back(point.y);
    }
  }
  return {Axis(chart.x, x, kPlotLeft, kPlotRight), Axis(chart.y, y, kPlotBottom, kPlotTop)};
}

/// Numbers the colours of the lines; dashed ones are references in grey (0).
std::vector<std::size_t> ColoursOf(const LineChart& chart) {
  std::vector<std::size_t> colours;
  std::size_t used = 0;
  for (const Line& line : chart.lines) {
    colours.push_back(line.dashed ? 0 : used++ % kColours + 1);
  }
  return colours;
}

/// The path of one line; a lone point between gaps becomes a dot (a round cap of no length).
std::string PathOf(const Line& line, const Axes& axes) {
  std::string path;
  bool pen_down = false;
  for (const Point& point : line.points) {
    if (!axes.x.Shows(point.x) || !axes.y.Shows(point.y)) {
      pen_down = false;
      continue;
    }
    const std::string x = Coordinate(axes.x.Pixel(point.x));
    const std::string y = Coordinate(axes.y.Pixel(point.y));
    if (!pen_down) {
      path += fmt::format("M{0} {1}L{0} {1}", x, y);
    } else if (line.steps) {
      path += fmt::format("V{}H{}", y, x);
    } else {
      path += fmt::format("L{} {}", x, y);
    }
    pen_down = true;
  }
  return path;
}

std::string DrawLine(const Line& line, std::size_t colour, const Axes& axes) {
  const std::string path = PathOf(line, axes);
  if (path.empty()) return {};
  std::string out;
  if (line.fill) {
    out += fmt::format(R"(<path class="area f{}" d="{}V{}H{}Z"/>)", colour, path, kPlotBottom,
                       Coordinate(axes.x.Pixel(line.points.front().x)));
  }
  out += fmt::format(R"(<path class="line s{}{}" d="{}"/>)", colour, line.dashed ? " dashed" : "",
                     path);
  return out;
}

std::string DrawMarker(const Marker& marker, const Axes& axes) {
  const double x = axes.x.Pixel(marker.at.x);
  const double y = axes.y.Pixel(marker.at.y);
  const double width = 6.8 * static_cast<double>(marker.label.size());  // of the text, about
  const bool right = x + width + 8 < kPlotRight;
  const bool above = marker.above && y - 24 > kPlotTop;
  const double middle = std::clamp(x, kPlotLeft + width / 2, kPlotRight - width / 2);
  const double text_x = above ? middle : right ? x + 8 : x - 8;
  return fmt::format(R"(<circle class="marker" cx="{}" cy="{}" r="5"/>)"
                     R"(<text class="strong" x="{}" y="{}" text-anchor="{}">{}</text>)",
                     Coordinate(x), Coordinate(y), Coordinate(text_x),
                     Coordinate(above ? y - 16 : y + 20),
                     above   ? "middle"
                     : right ? "start"
                             : "end",
                     EscapeHtml(marker.label));
}

/// What each x says, in order of x: values of all lines that have a point there.
std::map<double, std::string> TipsOf(const LineChart& chart, const Axes& axes) {
  std::map<double, std::string> tips;
  for (const Line& line : chart.lines) {
    if (line.dashed) continue;
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      const Point& point = line.points[i];
      if (!axes.x.Shows(point.x) || !axes.y.Shows(point.y)) continue;
      std::string& tip = tips[point.x];
      if (!line.tips.empty()) {
        tip = line.tips[i];  // the last of several on one vertical is the highest
        continue;
      }
      if (tip.empty()) tip = fmt::format("{} {}", chart.x.label, FormatNumber(point.x));
      tip += fmt::format("\n{}: {}", line.name, FormatNumber(point.y));
    }
  }
  return tips;
}

std::string DrawHits(const LineChart& chart, const Axes& axes) {
  std::vector<std::pair<double, std::string>> places;
  for (auto& [x, tip] : TipsOf(chart, axes)) {
    const double pixel = axes.x.Pixel(x);
    if (!places.empty() && pixel - places.back().first < kHitWidthMin) continue;
    places.emplace_back(pixel, tip);
  }
  std::string out;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double left = i == 0 ? kPlotLeft : (places[i - 1].first + places[i].first) / 2;
    const double right =
        i + 1 == places.size() ? kPlotRight : (places[i].first + places[i + 1].first) / 2;
    out += HitBand(left, right, places[i].second);
  }
  return out;
}

}  // namespace

std::string Draw(const LineChart& chart) {
  const Axes axes = AxesOf(chart);
  const std::vector<std::size_t> colours = ColoursOf(chart);
  std::string marks = DrawAxes(axes.x, axes.y, chart.x, chart.y.label);
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const Line& line = chart.lines[i];
    marks += DrawLine(line, colours[i], axes);
    if (line.name.empty()) continue;
    legend.push_back({line.name, fmt::format(R"(<path class="line s{}{}" d="M1 5H21"/>)",
                                             colours[i], line.dashed ? " dashed" : "")});
  }
  for (const Marker& marker : chart.markers) marks += DrawMarker(marker, axes);
  marks += DrawHits(chart, axes);
  return FigureOf(chart.title, chart.description, legend, marks);
}

}  // namespace ringward::report
