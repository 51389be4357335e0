#include "report/frame.h"

#include <fmt/format.h>

#include "report/text.h"

namespace ringward::report {

std::string Coordinate(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string FigureOf(std::string_view title, std::string_view description,
                     const std::vector<LegendEntry>& legend, std::string_view marks) {
  std::string items;
  for (const LegendEntry& entry : legend) {
    items += fmt::format(R"(<li><svg viewBox="0 0 22 10" aria-hidden="true">{}</svg>{}</li>)",
                         entry.swatch, EscapeHtml(entry.name));
  }
  if (!items.empty()) items = fmt::format("<ul class=\"legend\">{}</ul>", items);
  return fmt::format(
      R"(<figure class="card"><figcaption><h3>{0}</h3><p>{1}</p></figcaption>{2})"
      R"(<svg class="chart" viewBox="0 0 {3} {4}" role="img"><title>{0}</title><desc>{1}</desc>)"
      "{5}</svg></figure>\n",
      EscapeHtml(title), EscapeHtml(description), items, kChartWidth, kChartHeight, marks);
}

std::string DrawAxes(const Axis& x, const Axis& y, const AxisOptions& x_options,
                     std::string_view y_label) {
  std::string out;
  for (const Tick& tick : y.Ticks()) {
    const std::string at = Coordinate(y.Pixel(tick.value));
    out += fmt::format(R"(<path class="grid" d="M{} {}H{}"/>)", kPlotLeft, at, kPlotRight);
    out += fmt::format(R"(<text x="{}" y="{}" dy=".35em" text-anchor="end">{}</text>)",
                       kPlotLeft - 7, at, tick.label);
  }
  for (const Tick& tick : x.Ticks()) {
    const double at = x.Pixel(tick.value);
    out += fmt::format(R"(<path class="base" d="M{} {}v5"/>)", Coordinate(at), kPlotBottom);
    // A long last label would leave the drawing if it were centred.
    const bool shifted = at > kPlotRight - 8 && tick.label.size() > 3;
    out += fmt::format(R"(<text x="{}" y="{}" text-anchor="{}">{}</text>)",
                       Coordinate(shifted ? at + 8 : at), kPlotBottom + 20,
                       shifted ? "end" : "middle", tick.label);
  }
  out += fmt::format(R"(<path class="base" d="M{} {}H{}"/>)", kPlotLeft, kPlotBottom, kPlotRight);
  out += fmt::format(R"(<text x="{}" y="{}" text-anchor="middle">{}</text>)",
                     (kPlotLeft + kPlotRight) / 2, kChartHeight - 10, EscapeHtml(x_options.label));
  out += fmt::format(R"(<text x="4" y="11">{}</text>)", EscapeHtml(y_label));
  return out;
}

std::string HitBand(double left, double right, std::string_view tip) {
  return fmt::format(
      R"(<rect class="hit" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>)",
      Coordinate(left), kPlotTop, Coordinate(right - left), kPlotBottom - kPlotTop,
      EscapeHtml(tip));
}

}  // namespace ringward::report
