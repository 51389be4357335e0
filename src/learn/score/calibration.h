#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace ringward::learn {

/// What normal rows score, learned from rows that the scoring members never saw: turns scores into
/// p-values, and a false-alarm rate into a threshold. Immutable, safe for concurrent use.
///
/// Conformal (Vovk et al., "Algorithmic Learning in a Random World", 2005): with n calibration
/// scores of exchangeable rows, p = (1 + #{calibration score >= s}) / (n + 1) keeps P(p <= a) <= a.
/// Between neighbouring calibration scores p falls linearly, to the value it has just above the
/// larger one, so that a rate between two multiples of 1/(n+1) has its own threshold. Beyond the
/// largest calibration score p follows a generalised Pareto tail (peaks over threshold), which is
/// an extrapolation.
class Calibration {
 public:
  /// Fails with kInvalidInput when there is no score or one is not finite.
  static Result<Calibration> Make(std::vector<double> scores);

  std::size_t size() const { return scores_.size(); }
  /// Ascending.
  const std::vector<double>& scores() const { return scores_; }

  /// In (0, 1]; falls as `score` rises. A NaN score gives 0: it fits nothing that was seen.
  double PValue(double score) const;
  /// The score above which PValue is at most `rate`. REQUIRES: 0 < rate < 1.
  double Threshold(double rate) const;
  /// Smallest rate that calibration scores vouch for without extrapolating: 1 / (n + 1).
  double SmallestRate() const;
  /// What a user who asks for `rate` must know about the size of the calibration set; empty if
  /// there is nothing to say.
  std::string Warning(double rate) const;

 private:
  explicit Calibration(std::vector<double> sorted);
  void FitTail();

  std::vector<double> scores_;
  // Generalised Pareto tail of exceedances over tail_start_: survival (1 + shape x /
  // scale)^(-1/shape).
  double tail_start_ = 0.0;
  double tail_scale_ = 0.0;
  double tail_shape_ = 0.0;
  double TailSurvival(double score) const;
};

}  // namespace ringward::learn
