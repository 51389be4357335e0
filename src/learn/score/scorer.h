#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "learn/dense/plan.h"
#include "learn/score/neighbours.h"
#include "learn/score/whitening.h"

namespace ringward::learn {

/// What a score is made of, beside the nets.
///
/// Each member's residual r = x - net(x) is whitened with that member's training residuals, and its
/// mean squared length q is 1 for a typical row. With Q the mean of q over the members and D the
/// distance to the nearest reference rows relative to its typical value, the score is the weighted
/// geometric mean of Q and (D + floor) / (1 + floor), with weights 1 and neighbour_weight.
struct ScoreParts {
  std::vector<Whitening> whitening;      ///< one a member
  std::optional<Neighbours> neighbours;  ///< none: the score is Q
  double neighbour_weight = 0.0;         ///< >= 0
  double neighbour_floor = 0.0;          ///< >= 0: keeps duplicates of a reference from scoring 0
  double neighbour_scale = 1.0;          ///< typical distance, > 0

  /// The score of a row whose ensemble part is `q` and neighbour distance `d`; finite, >= 0.
  double Fuse(double q, double d) const;
};

/// How much one input of a row adds to its score.
struct Contribution {
  std::size_t input = 0;
  double share = 0.0;     ///< part of the score; all inputs' shares sum to the score
  double expected = 0.0;  ///< what the ensemble expected, standardised
  double seen = 0.0;      ///< standardised
};

/// Scores rows with trained nets. Not safe for concurrent use: it works in the plan's buffers.
class Scorer {
 public:
  /// `plan` and `parts` must outlive the scorer; `parts.whitening` may still be empty when only
  /// Residuals is called.
  Scorer(Plan& plan, const ScoreParts& parts, std::size_t batch_max);

  std::size_t batch_max() const { return batch_max_; }
  /// x - net(x) of every member into `out` [members, rows, inputs]; `x` is [rows, inputs].
  void Residuals(std::span<const float> x, std::size_t rows, std::span<float> out);
  /// Whitened mean squares of every row and member into `out` [rows, members]; any number of rows.
  void MemberScores(std::span<const float> x, std::size_t rows, std::span<double> out);
  /// Distances to the references into `out` [rows]; 0 without references.
  void NeighbourDistances(std::span<const float> x, std::size_t rows, std::span<double> out) const;
  /// Scores of any number of rows into `out` [rows].
  void Score(std::span<const float> x, std::size_t rows, std::span<double> out);

  /// Splits the score of one row over its inputs, largest share first. An input's part of a
  /// member's score is what fixing that input alone could take from it, g_j^2 / P_jj with g = P r
  /// and P the precision of the residuals, scaled so that the parts sum to the whole.
  std::vector<Contribution> Explain(std::span<const float> x, double score);

 private:
  void AddMemberShares(std::size_t member, std::span<const float> residual,
                       std::span<double> shares);

  Plan& plan_;
  const ScoreParts& parts_;
  const std::size_t batch_max_;
  const std::size_t inputs_;
  const std::size_t members_;
  std::vector<float> residuals_;                          // [members, batch, inputs]
  std::vector<float> whitened_;                           // [batch, inputs]
  std::vector<std::vector<double>> precision_diagonals_;  // per member, made when first explained
};

}  // namespace ringward::learn
