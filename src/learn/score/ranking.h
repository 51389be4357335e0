#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace ringward::learn {

/// Rows that share one score.
struct ScoreGroup {
  double score = 0.0;
  std::size_t normals = 0;
  std::size_t anomalies = 0;
};

/// Labelled scores as counts per distinct score, highest first: all that a quality figure needs.
struct Ranking {
  std::vector<ScoreGroup> groups;
  std::size_t normals = 0;    ///< >= 1
  std::size_t anomalies = 0;  ///< >= 1
};

/// Sorts and counts. Fails with kInvalidInput on unequal lengths, no rows, a NaN score, or rows of
/// one class only. Infinite scores are fine: they have a rank.
Result<Ranking> RankScores(std::span<const double> scores, std::span<const std::uint8_t> labels);

}  // namespace ringward::learn
