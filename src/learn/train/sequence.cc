#include "learn/train/sequence.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ringward::learn {
namespace {

constexpr std::size_t kRowsMax = 100'000;

/// Sums of one column; missing numbers are passed over, and so are differences to them.
struct Column {
  double count = 0.0, sum = 0.0, squares = 0.0, pairs = 0.0, differences = 0.0;

  void Add(float value, float before) {
    if (std::isnan(value)) return;
    const double x = value;
    count += 1.0;
    sum += x;
    squares += x * x;
    if (std::isnan(before)) return;
    pairs += 1.0;
    differences += (x - before) * (x - before);
  }

  /// Successive difference; negative where the column does not vary.
  double Ratio() const {
    constexpr double kVaries = 1e-9;  // inputs are standardised: a share of about 1
    if (count < 3.0 || pairs < 2.0) return -1.0;
    const double variance = squares / count - (sum / count) * (sum / count);
    return variance < kVaries ? -1.0 : differences / pairs / (2.0 * variance);
  }
};

}  // namespace

double SuccessiveDifference(const WindowedRows& data, std::span<const std::uint32_t> rows) {
  const Matrix& base = data.base();
  std::vector<Column> columns(base.cols);
  for (std::size_t i = 1; i < std::min(rows.size(), kRowsMax); ++i) {
    const float* const before = base.values.data() + rows[i - 1] * base.cols;
    const float* const row = base.values.data() + rows[i] * base.cols;
    for (std::size_t c = 0; c < base.cols; ++c) columns[c].Add(row[c], before[c]);
  }
  std::vector<double> ratios;
  for (const Column& column : columns) {
    if (const double ratio = column.Ratio(); ratio >= 0.0) ratios.push_back(ratio);
  }
  if (ratios.empty()) return 1.0;
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

}  // namespace ringward::learn
