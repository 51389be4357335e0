#pragma once

#include <cstddef>
#include <span>

#include "learn/dense/isa.h"

namespace ringward::learn {

/// Adds to the lower triangle of `moments` [width, width] the sums of x_i * x_j over `rows`
/// [any number, width], by the kernels of the plans. Each sum is taken in single precision over the
/// rows in their order: give them in pieces of some hundred.
void AddSecondMoments(std::span<const float> rows, std::size_t width, std::span<double> moments,
                      Isa isa = BestIsa());

}  // namespace ringward::learn
