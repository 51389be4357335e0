#include "learn/dense/second_moments.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "learn/dense/flush_denormals.h"
#include "learn/dense/panel_buffer.h"

namespace ringward::learn {
namespace {

/// Rows of the triangle made by one product: what lies right of the diagonal in them is wasted.
constexpr std::size_t kStrip = 64;

}  // namespace

void AddSecondMoments(std::span<const float> rows, std::size_t width, std::span<double> moments,
                      Isa isa) {
  RINGWARD_CHECK(width > 0 && rows.size() % width == 0 && moments.size() == width * width);
  if (rows.empty()) return;
  const FlushDenormals flush;
  const Kernels& kernels = KernelsFor(isa);
  const std::size_t panels = PanelCount(rows.size() / width);
  PanelBuffer buffer(panels, width);
  const Panels all = buffer.view();
  kernels.to_panels(rows.data(), rows.size() / width, all);
  std::vector<float> scratch(panels * kPanelRows * kPanelRows);
  std::vector<float> products(std::min(kStrip, width) * width);
  std::vector<float> sums(width);  // of the features, which nobody asks for
  for (std::size_t first = 0; first < width; first += kStrip) {
    const std::size_t last = std::min(first + kStrip, width);
    kernels.gradient({.x = {all.data + first * kPanelRows, all.stride, last - first},
                      .delta = {all.data, all.stride, last},
                      .panels = panels,
                      .scratch = scratch.data(),
                      .weights = products.data(),
                      .bias = sums.data()});
    for (std::size_t i = first; i < last; ++i) {
      const float* row = products.data() + (i - first) * last;
      for (std::size_t j = 0; j <= i; ++j) moments[i * width + j] += static_cast<double>(row[j]);
    }
  }
}

}  // namespace ringward::learn
