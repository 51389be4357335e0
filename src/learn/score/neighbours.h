#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "learn/data/matrix.h"

namespace ringward::learn {

/// Distances to the nearest of a bounded set of normal reference rows: how far a row lies from
/// anything seen, which the reconstruction error alone does not tell far outside the data.
/// Immutable, safe for concurrent use.
class Neighbours {
 public:
  /// `references` is [count, width] in standardised units, count >= 1; `k` is cut to what they
  /// allow.
  Neighbours(Matrix references, int k);

  const Matrix& references() const { return references_; }
  int k() const { return k_; }

  /// Mean squared distance per feature of each row of `x` [rows, width] to its k nearest
  /// references, into `out` [rows]. `own[i]`, where given, is the reference that row i itself is,
  /// or -1: it does not count.
  void Distances(std::span<const float> x, std::size_t rows, std::span<const std::int32_t> own,
                 std::span<double> out) const;

 private:
  void NearestOf(const float* x, const float* products, std::int32_t own,
                 std::vector<std::int32_t>& nearest) const;
  double SquaredDistance(const float* x, std::size_t reference) const;

  Matrix references_;
  int k_;
  std::vector<float> norms_;  ///< squared length of each reference
};

}  // namespace ringward::learn
