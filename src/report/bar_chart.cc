#include <fmt/format.h>

#include <algorithm>

#include "report/charts.h"
#include "report/text.h"

namespace ringward::report {

std::string Draw(const BarChart& chart) {
  double full = chart.full.value_or(0.0);
  if (!chart.full) {
    for (const Bar& bar : chart.bars) full = std::max(full, bar.value);
  }
  std::string rows;
  for (const Bar& bar : chart.bars) {
    const double share = full > 0.0 ? std::clamp(bar.value / full, 0.0, 1.0) : 0.0;
    // With a fixed full width the track shows what is missing; without, the bar stands alone.
    const std::string cell =
        chart.full
            ? fmt::format(R"(<td class="bar track"><i style="--w:{:.1f}%"></i></td>)",
                          share * 100.0)
            : fmt::format(R"(<td class="bar"><i style="width:{:.1f}%"></i></td>)", share * 100.0);
    rows += fmt::format(R"(<tr><th scope="row">{}</th>{}<td class="number">{}</td></tr>)",
                        EscapeHtml(bar.label), cell, EscapeHtml(bar.text));
  }
  return fmt::format(
      R"(<figure class="card"><figcaption><h3>{}</h3><p>{}</p></figcaption><table class="bars">)"
      R"(<thead><tr><th scope="col">{}</th><td></td><th scope="col" class="number">{}</th></tr>)"
      "</thead><tbody>{}</tbody></table></figure>\n",
      EscapeHtml(chart.title), EscapeHtml(chart.description), EscapeHtml(chart.label_header),
      EscapeHtml(chart.value_header), rows);
}

}  // namespace ringward::report
