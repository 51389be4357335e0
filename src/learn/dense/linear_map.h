#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "learn/dense/isa.h"
#include "learn/dense/kernels.h"

namespace ringward::learn {

/// A fixed map of rows, y = W x + b, by the kernels of the plans: a row's result does not depend on
/// the rows beside it nor on its position. Works on the calling thread. Immutable, safe for
/// concurrent use.
class LinearMap {
 public:
  /// `weights` is [outputs, inputs] row-major, `bias` [outputs]; neither is empty.
  LinearMap(std::span<const float> weights, std::span<const float> bias, Isa isa = BestIsa());

  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return bias_.size(); }

  /// `x` is [rows, inputs], `out` [rows, outputs]; they must not overlap.
  void Apply(std::span<const float> x, std::size_t rows, std::span<float> out) const;

 private:
  const Kernels* kernels_;
  std::size_t inputs_;
  std::vector<float> bias_;
  std::vector<float> packed_;
};

}  // namespace ringward::learn
