#include "learn/train/sequence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace ringward::learn {
namespace {

constexpr std::size_t kRowsMax = 100'000;

/// What one input tells; missing numbers are passed over, and so are differences to them.
class InputSums {
 public:
  void Add(float value, float before) {
    if (std::isnan(value)) return;
    const double x = value;
    if (count_ == 0.0) first_ = value;
    if (value != first_ && std::isnan(second_)) second_ = value;
    binary_ = binary_ && (value == first_ || value == second_);
    count_ += 1.0;
    sum_ += x;
    squares_ += x * x;
    if (std::isnan(before)) return;
    pairs_ += 1.0;
    differences_ += (x - before) * (x - before);
  }

  /// Successive difference; none where the input does not vary.
  std::optional<double> Ratio() const {
    constexpr double kVaries = 1e-9;  // inputs are standardised: a share of about 1
    if (count_ < 3.0 || pairs_ < 2.0) return std::nullopt;
    const double variance = squares_ / count_ - (sum_ / count_) * (sum_ / count_);
    if (variance < kVaries) return std::nullopt;
    return differences_ / pairs_ / (2.0 * variance);
  }
  bool binary() const { return binary_; }

 private:
  double count_ = 0.0, sum_ = 0.0, squares_ = 0.0, pairs_ = 0.0, differences_ = 0.0;
  float first_ = 0.0F;
  float second_ = std::numeric_limits<float>::quiet_NaN();
  bool binary_ = true;
};

/// The middle one; none where `ratios` is empty.
std::optional<double> Median(std::vector<double> ratios) {
  if (ratios.empty()) return std::nullopt;
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

}  // namespace

double SuccessiveDifference(const WindowedRows& data, std::span<const std::uint32_t> rows) {
  const Matrix& base = data.base();
  std::vector<InputSums> inputs(base.cols);
  const std::vector<float> nothing(base.cols, std::numeric_limits<float>::quiet_NaN());
  const float* before = nothing.data();
  for (std::size_t i = 0; i < std::min(rows.size(), kRowsMax); ++i) {
    const float* const row = base.values.data() + rows[i] * base.cols;
    for (std::size_t c = 0; c < base.cols; ++c) inputs[c].Add(row[c], before[c]);
    before = row;
  }
  std::vector<double> numbers;
  std::vector<double> flags;
  for (const InputSums& input : inputs) {
    if (const auto ratio = input.Ratio()) (input.binary() ? flags : numbers).push_back(*ratio);
  }
  // The levels of one column are many inputs: numbers speak first.
  if (const auto of_numbers = Median(std::move(numbers))) return *of_numbers;
  return Median(std::move(flags)).value_or(1.0);
}

}  // namespace ringward::learn
