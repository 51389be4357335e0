#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "learn/train/sharding.h"

namespace ringward::learn {

/// How the global batch is cut over the ranks where they differ in speed: evenly at first, then so
/// that all are expected to be done at the same time. Knows no clock and sends nothing: ranks that
/// learned the same speeds in the same order cut alike.
///
/// Pieces are whole panels of the dense kernels (16 rows) but for the last; no rank gets less than
/// half of an even piece or, to within 1.5 panels, more than one and a half. Batches of fewer than
/// two panels a rank are cut evenly.
class BatchShares {
 public:
  /// REQUIRES: world >= 1.
  explicit BatchShares(std::size_t world);

  /// The rows of a batch of `batch` that each rank computes, in rank order; together all of them.
  std::vector<Range> Cut(std::size_t batch) const;

  /// Moves the shares towards the `speeds` [world] that ranks showed lately, in panels per second
  /// of their own work. Changes nothing where one of them is not known (not above 0).
  void Learn(std::span<const double> speeds);

  /// Part of the batch each rank is to get, before rounding; they sum to 1.
  std::span<const double> shares() const { return shares_; }

  /// Work that a piece of `rows` makes: a panel that is not full costs as much as one that is.
  static std::size_t PanelsOf(std::size_t rows);

  /// Rows of the largest piece that Cut() can make of `batch_max` rows or fewer.
  static std::size_t PieceRowsMax(std::size_t batch_max, std::size_t world);

 private:
  void Limit();

  std::vector<double> shares_;
};

}  // namespace ringward::learn
