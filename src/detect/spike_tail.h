#pragma once

#include <cstddef>
#include <vector>

#include "detect/robust.h"

namespace ringward::detect {

/// How far out a single value of a healthy series lies by chance: peaks over threshold with an
/// exponential tail (Pickands 1975; the generalised Pareto with shape 0, which a bounded history
/// supports best). Scores are distances from what was expected, in robust standard deviations of
/// the last `memory` values. Not safe for concurrent use.
class SpikeTail {
 public:
  explicit SpikeTail(std::size_t memory = 256) : differences_(memory) {}

  /// Takes a difference from the expected value after it was judged.
  void Learn(float difference) { differences_.Add(difference); }
  bool ready() const { return differences_.size() >= kNeeded; }
  /// The difference that a healthy series exceeds `expected` times in `values` values. REQUIRES:
  /// ready().
  double Level(double values, double expected) const;

 private:
  static constexpr std::size_t kNeeded = 24;
  Recent differences_;
};

}  // namespace ringward::detect
