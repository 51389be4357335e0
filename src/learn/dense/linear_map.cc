#include "learn/dense/linear_map.h"

#include <algorithm>

#include "base/check.h"
#include "learn/dense/flush_denormals.h"
#include "learn/dense/panel_buffer.h"

namespace ringward::learn {

LinearMap::LinearMap(std::span<const float> weights, std::span<const float> bias, Isa isa)
    : kernels_(&KernelsFor(isa)), inputs_(0), bias_(bias.begin(), bias.end()) {
  RINGWARD_CHECK(!weights.empty() && !bias.empty() && weights.size() % bias.size() == 0);
  inputs_ = weights.size() / bias.size();
  constexpr std::size_t kSlack = 16;  // floats that pack_weights may read and write too many
  std::vector<float> transposed(weights.size() + kSlack);
  for (std::size_t o = 0; o < outputs(); ++o) {
    for (std::size_t i = 0; i < inputs_; ++i) {
      transposed[i * outputs() + o] = weights[o * inputs_ + i];
    }
  }
  packed_.resize(transposed.size());
  kernels_->pack_weights(transposed.data(), inputs_, outputs(), packed_.data());
}

void LinearMap::Apply(std::span<const float> x, std::size_t rows, std::span<float> out) const {
  RINGWARD_CHECK(x.size() == rows * inputs_ && out.size() == rows * outputs());
  const FlushDenormals flush;
  // A panel at a time: what it makes is read again before it has left the level-2 cache.
  PanelBuffer from(1, inputs_);
  PanelBuffer to(1, outputs());
  for (std::size_t first = 0; first < rows; first += kPanelRows) {
    const std::size_t count = std::min(kPanelRows, rows - first);
    kernels_->to_panels(x.data() + first * inputs_, count, from.view());
    kernels_->forward({.x = from.view(),
                       .y = to.view(),
                       .panels = 1,
                       .packed = packed_.data(),
                       .bias = bias_.data()});
    kernels_->from_panels(to.view(), count, out.data() + first * outputs());
  }
}

}  // namespace ringward::learn
