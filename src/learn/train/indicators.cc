#include "learn/train/indicators.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace ringward::learn {
namespace {

double ShareOn(const Indicator& indicator, const WindowedRows& data,
               std::span<const std::uint32_t> rows) {
  const double middle = (indicator.off + indicator.on) / 2;
  const auto on = std::count_if(rows.begin(), rows.end(), [&](std::uint32_t row) {
    return static_cast<double>(data.base().Row(row)[indicator.input % data.base().cols]) > middle;
  });
  // One more of either kind: what these rows do not show is not impossible.
  return (static_cast<double>(on) + 1) / (static_cast<double>(rows.size()) + 2);
}

}  // namespace

void HideIndicators(std::span<const Indicator> indicators, Plan& plan) {
  if (indicators.empty()) return;
  const std::span<float> parameters = plan.parameters();
  for (const TensorView& tensor : plan.tensors()) {
    if (!tensor.name.ends_with(".layers.0.weight")) continue;
    for (const Indicator& indicator : indicators) {
      const auto weights =
          parameters.subspan(tensor.offset + indicator.input * tensor.shape[1], tensor.shape[1]);
      std::fill(weights.begin(), weights.end(), 0.0F);
    }
  }
}

IndicatorBounds::IndicatorBounds(std::span<const Indicator> indicators, const WindowedRows& data,
                                 std::span<const std::uint32_t> rows)
    : inputs_(data.inputs()) {
  for (const Indicator& indicator : indicators) {
    const double on = ShareOn(indicator, data, rows);
    const double rarer = std::min(on, 1 - on);
    const double gap = indicator.on - indicator.off;
    bounds_.push_back({.input = indicator.input,
                       .unforeseen = gap * gap / static_cast<double>(rows.size()),
                       .factor = (1 - rarer) / rarer});
  }
}

std::vector<double> IndicatorBounds::Added(std::span<const double> moments) const {
  const std::size_t stride = moments.size() == inputs_ ? 1 : inputs_ + 1;
  std::vector<double> added(inputs_, 0.0);
  for (const Bound& bound : bounds_) {
    // Nets may know a few rows by heart: without a row that they do not, they would seem sure.
    const double variance = moments[bound.input * stride];
    added[bound.input] = (variance + bound.unforeseen) * bound.factor - variance;
  }
  return added;
}

}  // namespace ringward::learn
