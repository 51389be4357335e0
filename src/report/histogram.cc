#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "report/charts.h"
#include "report/frame.h"
#include "report/text.h"

namespace ringward::report {
namespace {

constexpr double kLogCountFloor = 0.6;  // where a count of 0 ends on a log axis: below 1

Axes AxesOf(const Histogram& histogram) {
  std::vector<double> counts;
  for (const HistogramGroup& group : histogram.groups) {
    for (const std::size_t count : group.counts) counts.push_back(static_cast<double>(count));
  }
  AxisOptions y;
  y.log = histogram.log_count;
  y.low = histogram.log_count ? kLogCountFloor : 0.0;
  if (histogram.log_count) {
    const double most = counts.empty() ? 1.0 : *std::max_element(counts.begin(), counts.end());
    y.high = std::max(most * 1.3, 10.0);
  }
  AxisOptions x = histogram.x;
  x.low = histogram.edges.front();
  x.high = histogram.edges.back();
  // A threshold above all scores is still to be seen.
  if (histogram.threshold) x.high = std::max(*x.high, *histogram.threshold);
  return {Axis(x, {}, kPlotLeft, kPlotRight), Axis(y, counts, kPlotBottom, kPlotTop)};
}

/// The outline of one group's bars.
std::string StepPath(const std::vector<std::size_t>& counts, const Histogram& histogram,
                     const Axes& axes) {
  std::string path =
      fmt::format("M{} {}", Coordinate(axes.x.Pixel(histogram.edges.front())), kPlotBottom);
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    const double y =
        counts[bin] == 0 ? kPlotBottom : axes.y.Pixel(static_cast<double>(counts[bin]));
    path +=
        fmt::format("V{}H{}", Coordinate(y), Coordinate(axes.x.Pixel(histogram.edges[bin + 1])));
  }
  return path + fmt::format("V{}Z", kPlotBottom);
}

std::string DrawThreshold(double threshold, const Axes& axes) {
  const double x = axes.x.Pixel(threshold);
  const bool right = x < (kPlotLeft + kPlotRight) / 2;
  return fmt::format(R"(<path class="threshold" d="M{} {}V{}"/>)"
                     R"(<text class="strong" x="{}" y="{}" text-anchor="{}">threshold {}</text>)",
                     Coordinate(x), kPlotTop, kPlotBottom, Coordinate(x + (right ? 6 : -6)),
                     kPlotTop + 12, right ? "start" : "end", FormatNumber(threshold));
}

std::string DrawHits(const Histogram& histogram, const Axes& axes) {
  std::string out;
  for (std::size_t bin = 0; bin + 1 < histogram.edges.size(); ++bin) {
    const double low = histogram.edges[bin];
    const double high = histogram.edges[bin + 1];
    std::string tip =
        fmt::format("{} {} – {}", histogram.x.label, FormatNumber(low, 3), FormatNumber(high, 3));
    for (const HistogramGroup& group : histogram.groups) {
      tip += fmt::format("\n{}: {}", group.name, FormatCount(group.counts[bin]));
    }
    out += HitBand(axes.x.Pixel(low), axes.x.Pixel(high), tip);
  }
  return out;
}

}  // namespace

std::string Draw(const Histogram& histogram) {
  RINGWARD_CHECK(histogram.edges.size() >= 2);
  const Axes axes = AxesOf(histogram);
  std::string marks;
  if (histogram.threshold) {
    const double x = axes.x.Pixel(*histogram.threshold);
    marks +=
        fmt::format(R"(<rect class="alarm-side" x="{}" y="{}" width="{}" height="{}"/>)",
                    Coordinate(x), kPlotTop, Coordinate(kPlotRight - x), kPlotBottom - kPlotTop);
  }
  marks += DrawAxes(axes.x, axes.y, histogram.x, histogram.log_count ? "rows (log)" : "rows");
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < histogram.groups.size(); ++i) {
    const HistogramGroup& group = histogram.groups[i];
    RINGWARD_CHECK(group.counts.size() + 1 == histogram.edges.size());
    const std::string classes = fmt::format("step s{0} f{0}", i % 4 + 1);
    marks += fmt::format(R"(<path class="{}" d="{}"/>)", classes,
                         StepPath(group.counts, histogram, axes));
    legend.push_back({group.name, fmt::format(R"(<path class="{}" d="M1 0H21V10H1Z"/>)", classes)});
  }
  if (histogram.threshold) marks += DrawThreshold(*histogram.threshold, axes);
  marks += DrawHits(histogram, axes);
  return FigureOf(histogram.title, histogram.description, legend, marks);
}

}  // namespace ringward::report
