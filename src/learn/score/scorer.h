#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "learn/dense/plan.h"
#include "learn/score/expectation.h"
#include "learn/score/neighbours.h"
#include "learn/score/whitening.h"

namespace ringward::learn {

/// What a score is made of, beside the nets.
///
/// Each member's residual r = x - net(x) is whitened with that member's training residuals, and its
/// mean squared length q is about 1 for a typical row. Q is the geometric mean of q over the
/// members, so that levels that fit tightly and levels that fit loosely count alike. With D the
/// distance to the nearest reference rows relative to its typical value, the score is the weighted
/// geometric mean of Q and (D + floor) / (1 + floor), with weights 1 and neighbour_weight.
struct ScoreParts {
  std::vector<Whitening> whitening;      ///< one a member
  std::optional<Neighbours> neighbours;  ///< none: the score is Q
  double neighbour_weight = 0.0;         ///< >= 0
  double neighbour_floor = 0.0;          ///< >= 0: keeps duplicates of a reference from scoring 0
  double neighbour_scale = 1.0;          ///< typical distance, > 0

  /// The logarithm of the score of a row whose log Q is `log_q` and neighbour distance `d`; finite.
  double FuseLog(double log_q, double d) const;
};

/// The logarithm of a member's whitened mean square, kept finite for rows it reproduces exactly.
double LogMemberScore(double q);

/// x - net(x) of every member into `out` [members, rows, inputs]; `x` is [rows, inputs], whole rows
/// only, as many as the plan takes.
void Residuals(Plan& plan, std::span<const float> x, std::size_t rows, std::span<float> out);

/// How many rows to score at once: up to 256, fewer where their residuals would take more than 256
/// MiB; at least 1. No score depends on it.
std::size_t RowsAtOnce(std::size_t inputs, std::size_t members);

/// Inputs that belong together in an explanation: those made from one column of the data.
using FeatureGroups = InputLists;

/// How much one feature of a row adds to its score.
struct Contribution {
  std::size_t feature = 0;      ///< index into the groups
  double share = 0.0;           ///< part of the score; all features' shares sum to the score
  std::vector<float> expected;  ///< of its inputs, given all other features; standardised
};

/// Scores rows with trained nets. Not safe for concurrent use: it works in the plan's buffers.
/// Score and Explain fill missing inputs (learn/data/missing.h); the others take whole rows only.
class Scorer {
 public:
  /// `plan` and `parts` must outlive the scorer.
  Scorer(Plan& plan, const ScoreParts& parts, std::size_t batch_max);

  std::size_t batch_max() const { return batch_max_; }
  /// Whitened mean squares of every row and member into `out` [rows, members]; any number of rows.
  void MemberScores(std::span<const float> x, std::size_t rows, std::span<double> out);
  /// Distances to the references into `out` [rows]; 0 without references.
  void NeighbourDistances(std::span<const float> x, std::size_t rows, std::span<double> out) const;
  /// Scores of any number of rows into `out` [rows].
  void Score(std::span<const float> x, std::size_t rows, std::span<double> out);

  /// Splits the score of one row over `features`, largest share first: in proportion to how far the
  /// logarithm of the score falls when that feature alone takes the value that the noisiest members
  /// expect of it given the others.
  /// Costs about four scorings of as many rows as there are features; memory for batch_max() rows.
  std::vector<Contribution> Explain(std::span<const float> x, double score,
                                    const FeatureGroups& features);

 private:
  void ScoreWithout(std::span<const std::vector<std::size_t>> features,
                    std::span<const float> whole, std::span<double> scores,
                    std::span<Contribution> contributions);
  Plan& plan_;
  const ScoreParts& parts_;
  const std::size_t batch_max_;
  const std::size_t inputs_;
  const std::size_t members_;
  Expectation expectation_;
  std::vector<float> residuals_;  // [members, batch, inputs]
  std::vector<float> whitened_;   // [batch, inputs]
};

}  // namespace ringward::learn
