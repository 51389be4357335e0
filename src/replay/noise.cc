#include "replay/noise.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace ringward::replay {
namespace {

/// The quantile of Student's t with 4 degrees of freedom at 0 < p < 1 (Shaw, "Sampling Student's T
/// distribution", Journal of Computational Finance, 2006).
double StudentQuantile4(double p) {
  const double alpha = 4.0 * p * (1.0 - p);
  const double q = std::cos(std::acos(std::sqrt(alpha)) / 3.0) / std::sqrt(alpha);
  return std::copysign(2.0 * std::sqrt(std::max(q - 1.0, 0.0)), p - 0.5);
}

}  // namespace

FastRandom::FastRandom(std::uint64_t seed) {
  // SplitMix64 fills the state, so that seeds that differ by little give different streams.
  for (std::uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    word = z ^ (z >> 31U);
  }
}

std::uint64_t FastRandom::Next() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

HeavyTail::HeavyTail() : table_(std::size_t{1} << 16U) {
  // Variance of t with 4 degrees of freedom: 2.
  for (std::size_t i = 0; i < table_.size(); ++i) {
    const double p = (static_cast<double>(i) + 0.5) / static_cast<double>(table_.size());
    table_[i] = static_cast<float>(StudentQuantile4(p) / std::numbers::sqrt2);
  }
}

}  // namespace ringward::replay
