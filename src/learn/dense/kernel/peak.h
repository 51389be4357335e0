// What the core can do at most: the yardstick of the products.
#pragma once

#include "learn/dense/kernel/simd.h"

namespace ringward::learn::RINGWARD_KERNELS {

inline constexpr int kChains =
    12;  ///< enough to hide the latency of one, few enough for the registers

/// `turns` multiply-adds in each of kChains independent vectors of sums, and nothing else. Returns
/// a sum, so that the compiler keeps them.
inline float MultiplyAdds(std::size_t turns) {
  F sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = Splat(static_cast<float>(i));
  const F a = Splat(0.5F);
  const F b = Splat(0.25F);
  for (std::size_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) sums[i] = FmaInPlace(a, b, sums[i]);
  }
  F sum = sums[0];
  for (int i = 1; i < kChains; ++i) sum = sum + sums[i];
  return sum[0];
}

}  // namespace ringward::learn::RINGWARD_KERNELS
