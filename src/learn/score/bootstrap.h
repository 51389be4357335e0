#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"
#include "learn/score/ranking.h"

namespace ringward::learn {

/// The figures of one (re)sample. A figure whose denominator is zero is NaN.
struct RankingFigures {
  double auroc = 0.0;
  double auprc = 0.0;
  double precision = 0.0;
  double recall = 0.0;
  double false_alarm_rate = 0.0;
};

/// A ranking cut into as few cells as the figures can tell apart: runs of normal rows without an
/// anomaly between them are one cell, which leaves AUROC and average precision exactly as they
/// are. Resampling then draws a count per cell instead of visiting rows.
class CountedCells {
 public:
  /// Rows with score > threshold are alarms; no cell holds rows of both sides. `resolution` > 0
  /// also joins neighbours while they hold at most 1/resolution of either class, as if tied: at
  /// 4,096 this moves a figure by less than 0.0003 and bounds the cells to 4 x resolution.
  CountedCells(const Ranking& ranking, double threshold, std::size_t resolution = 0);

  std::size_t size() const { return normals_.size(); }

  /// Figures of the rows as they are.
  RankingFigures Figures() const;

  /// Figures of `resamples` stratified bootstrap samples; sample r is keyed (seed, r).
  std::vector<RankingFigures> Resample(std::uint64_t seed, int resamples) const;

 private:
  using Counts = std::vector<std::uint32_t>;  // of one class, per cell, highest scores first
  RankingFigures FiguresOf(const Counts& normals, const Counts& anomalies) const;

  Counts normals_;
  Counts anomalies_;
  std::size_t alarm_cells_ = 0;  // the first cells, whose rows are alarms
};

/// A Poisson draw with integer mean >= 0. Means up to 12 by inversion, larger ones by Hörmann's
/// transformed rejection ("The transformed rejection method for generating Poisson random
/// variables", 1993, algorithm PTRS).
std::uint32_t DrawPoisson(std::uint32_t mean, Rng& rng);

}  // namespace ringward::learn
