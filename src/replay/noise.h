#pragma once

#include <cstdint>
#include <vector>

namespace ringward::replay {

/// Fast random numbers of one simulated job: xoshiro256++ (Blackman and Vigna, 2021), as a job of
/// 10,240 ranks draws a billion numbers a day. Not safe for concurrent use.
class FastRandom {
 public:
  explicit FastRandom(std::uint64_t seed);
  std::uint64_t Next();
  double Uniform() { return static_cast<double>(Next() >> 11U) * 0x1p-53; }  ///< [0, 1)
  std::uint64_t Below(std::uint64_t bound) { return Next() % bound; }        ///< bound > 0
  double Between(double low, double high) { return low + (high - low) * Uniform(); }

 private:
  std::uint64_t state_[4];
};

/// Draws from Student's t with 4 degrees of freedom scaled to variance 1, from a table of its
/// quantiles: step times of production jobs have such tails (see docs/simulate.md).
class HeavyTail {
 public:
  HeavyTail();
  float Draw(FastRandom& random) const { return table_[random.Next() >> 48U]; }

 private:
  std::vector<float> table_;  ///< 65,536 quantiles
};

}  // namespace ringward::replay
