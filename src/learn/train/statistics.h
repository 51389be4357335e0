#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "comm/communicator.h"
#include "learn/data/window.h"
#include "learn/score/scorer.h"
#include "learn/train/gradient_step.h"
#include "learn/train/indicators.h"

namespace ringward::learn {

/// What the trained ensemble does on its training rows, computed over all ranks. Every result is
/// the same on all ranks and, sums being taken in a fixed order, bit-equal on 1, 2, 4 and 8 ranks
/// that start from the same parameters.
class TrainingStatistics {
 public:
  /// `rows` are the training rows to look at, ascending, the same on every rank; at most
  /// `batch_max` at once, which the plan must take. Keeps references: the arguments must outlive
  /// it.
  TrainingStatistics(comm::Communicator& comm, Plan& plan, const WindowedRows& data,
                     std::span<const std::uint32_t> rows, const Folds& folds,
                     std::size_t batch_max);

  /// Each member's whitening from the residuals of the rows it learned from, of which the share
  /// `trim` with the largest residuals is left out; `ridge` as for Whitening::Fit. Fails as the
  /// communicator and Whitening do.
  Result<std::vector<Whitening>> FitWhitening(double ridge, double trim,
                                              const IndicatorBounds& bounds);

  /// What the members make of every row.
  struct RowScores {
    std::vector<double> log_q;     ///< log Q over the members that left the row out (without folds:
                                   ///< over all)
    std::vector<double> variance;  ///< of log Q between groups of as many members that did not
  };
  Result<RowScores> LeftOutScores(const ScoreParts& parts);

  /// Distance of every row to the references; `references[i]` is the row that reference i is.
  Result<std::vector<double>> NeighbourDistances(const Neighbours& neighbours,
                                                 std::span<const std::uint32_t> references);

 private:
  template <typename Visit>
  void VisitChunks(std::size_t group, Visit visit);
  void SummariseRow(std::size_t row, std::span<const double> members, double& log_q,
                    double& variance) const;
  std::span<const float> ResidualsOf(std::size_t count);
  Result<std::vector<float>> ResidualLimits(double trim);
  void AddMoments(std::size_t group, std::span<const float> limits, std::vector<double>& moments);
  Result<std::vector<double>> SumGroups(std::span<const float> limits);

  comm::Communicator& comm_;
  Plan& plan_;
  const WindowedRows& data_;
  const std::span<const std::uint32_t> rows_;
  const Folds& folds_;
  const std::size_t batch_max_;
  const std::size_t inputs_;
  const std::size_t members_;
  Expectation expectation_;
  std::vector<float> x_;          // [chunk, inputs]
  std::vector<float> residuals_;  // [members, chunk, inputs], made when first needed
};

}  // namespace ringward::learn
