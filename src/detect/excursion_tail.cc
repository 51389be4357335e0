#include "detect/excursion_tail.h"

#include <algorithm>
#include <cmath>

namespace ringward::detect {
namespace {

constexpr double kTailShare = 0.1;
constexpr std::size_t kExceedancesMin = 5;
constexpr std::size_t kExceedancesMax = 64;  // the further out, the more like the tail itself
constexpr double kScaleMin = 0.25;           // of the usual scale
constexpr double kDeviations = 1.5;          // by which the fitted scale is taken larger
constexpr double kUsualRate = 0.2;           // excursions a frame, before any is known
constexpr double kUsualCount = 64.0;         // exceedances that the usual scale is worth at first;
constexpr double kUsualFades = 2000.0;       // half of it after so many excursions

}  // namespace

void ExcursionTail::Add(float highest) {
  if (highest_.size() < capacity_) {
    highest_.push_back(highest);
  } else {
    highest_[seen_ % capacity_] = highest;
  }
  ++seen_;
}

void ExcursionTail::Fit() const {
  std::vector<float> sorted = highest_;
  const auto n = static_cast<double>(sorted.size());
  const auto wanted =
      std::clamp(static_cast<std::size_t>(kTailShare * n), kExceedancesMin, kExceedancesMax);
  if (sorted.size() <= wanted) {
    threshold_ =
        sorted.empty() ? 0.0 : static_cast<double>(*std::max_element(sorted.begin(), sorted.end()));
    scale_ = usual_scale_;
    share_ = 1.0;
    return;
  }
  const auto start = sorted.end() - static_cast<std::ptrdiff_t>(wanted) - 1;
  std::nth_element(sorted.begin(), start, sorted.end());
  threshold_ = static_cast<double>(*start);
  double beyond = 0.0;
  for (auto at = start + 1; at != sorted.end(); ++at)
    beyond += static_cast<double>(*at) - threshold_;
  const auto count = static_cast<double>(wanted);
  // The highest of few excursions are not yet far out: the tail is steeper there than further up.
  const double usual = kUsualCount * kUsualFades / (kUsualFades + static_cast<double>(seen_));
  // The mean of few exceedances is uncertain by a share of 1 over the root of their number.
  scale_ = std::max((beyond + usual * usual_scale_) / (count + usual), kScaleMin * usual_scale_);
  scale_ *= 1.0 + kDeviations / std::sqrt(count + usual);
  share_ = count / n;
}

double ExcursionTail::Level(double frames, double expected) const {
  // An eighth more excursions change little.
  if (fitted_at_ == 0 || seen_ >= fitted_at_ + fitted_at_ / 8 + 8) {
    Fit();
    fitted_at_ = std::max<std::size_t>(seen_, 1);
  }
  const double rate = frames_ > 0.0 ? static_cast<double>(seen_ + 1) / frames_ : kUsualRate;
  const double excursions = std::max(rate * frames * share_, 1.0);
  return threshold_ + scale_ * std::log(std::max(excursions / expected, 2.0));
}

}  // namespace ringward::detect
