#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace ringward::learn {

/// Counts of scores in bins of equal width, on a linear or a logarithmic axis.
struct ScoreHistogram {
  std::vector<double> edges;         ///< bins + 1 rising values; bin i is [edges[i], edges[i+1])
  std::vector<std::size_t> normal;   ///< per bin; all rows where there are no labels
  std::vector<std::size_t> anomaly;  ///< per bin; empty where there are no labels
  bool log_axis = false;             ///< the bins have equal width on a logarithmic axis
};

/// Bins `scores` into `bins` (1 .. 10,000) bins that cover them all; the last bin includes its
/// upper edge. The axis becomes logarithmic where every score is positive and the largest is
/// more than 50 times the median, as reconstruction errors of anomalies are. `labels` is empty or
/// has an entry a row (not 0 = anomaly). Fails with kInvalidInput on no rows, unequal lengths or a
/// score that is not finite (its row is named).
Result<ScoreHistogram> MakeScoreHistogram(std::span<const double> scores,
                                          std::span<const std::uint8_t> labels,
                                          std::size_t bins = 60);

}  // namespace ringward::learn
