#include "learn/score/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace ringward::learn {
namespace {

constexpr std::size_t kTailShare = 10;  // the largest tenth of the scores makes the tail
constexpr std::size_t kTailScoresMin = 20;
constexpr double kShapeMax = 0.5;  // of logarithms of scores: beyond it the estimate is noise
constexpr double kShapeMin = -0.5;
constexpr double kFewCalibrationRows = 10.0;  // expected false alarms among the calibration rows

}  // namespace

Calibration::Calibration(std::vector<double> sorted) : scores_(std::move(sorted)) { FitTail(); }

Result<Calibration> Calibration::Make(std::vector<double> scores) {
  if (scores.empty()) return Error(Code::kInvalidInput, "no calibration scores");
  if (!std::all_of(scores.begin(), scores.end(), [](double s) { return std::isfinite(s); })) {
    return Error(Code::kInvalidInput, "a calibration score is not finite");
  }
  std::sort(scores.begin(), scores.end());
  return Calibration(std::move(scores));
}

/// Probability-weighted moments (Hosking and Wallis, "Parameter and quantile estimation for the
/// generalized Pareto distribution", Technometrics 1987).
void Calibration::FitTail() {
  const std::size_t n = scores_.size();
  const std::size_t count = std::min(n - 1, std::max(kTailScoresMin, n / kTailShare));
  tail_start_ = scores_[n - 1 - count];
  double mean = 0.0;
  double weighted = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double excess = scores_[n - count + i] - tail_start_;
    mean += excess;
    weighted += excess * static_cast<double>(count - 1 - i);
  }
  const double k = static_cast<double>(count);
  mean /= std::max(k, 1.0);
  weighted /= std::max(k * (k - 1.0), 1.0);
  const double denominator = mean - 2.0 * weighted;
  if (!(mean > 0.0) || !(denominator > 0.0)) {
    tail_shape_ = 0.0;
    tail_scale_ = std::max(mean, std::numeric_limits<double>::min());
    return;
  }
  tail_shape_ = std::clamp(2.0 - mean / denominator, kShapeMin, kShapeMax);
  tail_scale_ = mean * (1.0 - tail_shape_);
}

double Calibration::TailSurvival(double score) const {
  const double excess = (score - tail_start_) / tail_scale_;
  if (std::abs(tail_shape_) < 1e-9) return std::exp(-excess);
  const double base = 1.0 + tail_shape_ * excess;
  return base <= 0.0 ? 0.0 : std::pow(base, -1.0 / tail_shape_);
}

double Calibration::SmallestRate() const { return 1.0 / static_cast<double>(scores_.size() + 1); }

double Calibration::PValue(double score) const {
  if (std::isnan(score)) return 0.0;
  const double n1 = static_cast<double>(scores_.size() + 1);
  const auto above = std::lower_bound(scores_.begin(), scores_.end(), score);
  if (above == scores_.begin()) return 1.0;
  const double at_or_above = static_cast<double>(scores_.end() - above);
  if (above == scores_.end()) {
    const double at_largest = TailSurvival(scores_.back());
    const double share = at_largest > 0.0 ? TailSurvival(score) / at_largest : 0.0;
    return std::max(share / n1, std::numeric_limits<double>::min());
  }
  const double low = *(above - 1);
  const double share = (score - low) / (*above - low);
  return (at_or_above + 1.0 - share) / n1;
}

double Calibration::Threshold(double rate) const {
  RINGWARD_CHECK(rate > 0.0 && rate < 1.0);
  const double n1 = static_cast<double>(scores_.size() + 1);
  const double exceed = rate * n1;  // calibration scores at or above the threshold
  if (exceed >= 1.0) {
    const double position = std::clamp(static_cast<double>(scores_.size()) - exceed, 0.0,
                                       static_cast<double>(scores_.size() - 1));
    const auto index = static_cast<std::size_t>(position);
    if (index + 1 >= scores_.size()) return scores_.back();
    const double share = position - static_cast<double>(index);
    return scores_[index] + share * (scores_[index + 1] - scores_[index]);
  }
  const double survival = exceed * TailSurvival(scores_.back());
  const double excess = std::abs(tail_shape_) < 1e-9
                            ? -std::log(survival)
                            : (std::pow(survival, -tail_shape_) - 1.0) / tail_shape_;
  return std::max(scores_.back(), tail_start_ + tail_scale_ * excess);
}

std::string Calibration::Warning(double rate) const {
  const double expected = rate * static_cast<double>(scores_.size() + 1);
  if (expected < 1.0) {
    return fmt::format(
        "a false-alarm rate of {:g} is extrapolated: {} calibration rows vouch for {:.2g} at best",
        rate, scores_.size(), SmallestRate());
  }
  if (expected < kFewCalibrationRows) {
    return fmt::format(
        "a false-alarm rate of {:g} rests on the {:.0f} largest of {} calibration scores; expect "
        "it "
        "to be off by about {:.0f} %",
        rate, expected, scores_.size(), 100.0 / std::sqrt(expected));
  }
  return "";
}

}  // namespace ringward::learn
