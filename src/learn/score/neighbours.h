#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "learn/data/matrix.h"
#include "learn/dense/linear_map.h"
#include "learn/score/largest.h"

namespace ringward::learn {

/// Distances to the nearest of a bounded set of normal reference rows: how far a row lies from
/// anything seen, which the reconstruction error alone does not tell far outside the data.
/// Immutable, safe for concurrent use.
class Neighbours {
 public:
  /// `references` is [count, width] in standardised units, count >= 1; `k` is cut to what they
  /// allow. The inputs `ignored` (< width) count as equal in all rows, and are 0 in references().
  Neighbours(Matrix references, int k, std::vector<std::size_t> ignored = {});

  const Matrix& references() const { return references_; }
  int k() const { return k_; }

  /// Mean squared distance per feature of each row of `x` [rows, width] to its k nearest
  /// references, into `out` [rows]. `own[i]`, where given, is the reference that row i itself is,
  /// or -1: it does not count. A row's distance does not depend on the other rows.
  void Distances(std::span<const float> x, std::size_t rows, std::span<const std::int32_t> own,
                 std::span<double> out) const;

 private:
  /// Memory that the rows of one call share.
  struct Search {
    Largest largest;
    std::vector<double> distances;
  };
  double MeanOfNearest(const float* x, std::span<const float> closeness, std::int32_t own,
                       Search& search) const;
  double SquaredDistance(const float* x, std::size_t reference) const;

  Matrix references_;
  int k_;
  std::vector<std::size_t> ignored_;
  LinearMap closeness_;  ///< (|x|^2 - |x - r|^2) / 2 of every reference r, largest for the nearest
};

}  // namespace ringward::learn
