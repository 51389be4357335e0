#include "detect/robust.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace ringward::detect {

float QuantileInPlace(std::span<float> values, double q) {
  RINGWARD_CHECK(!values.empty());
  const auto last = static_cast<double>(values.size() - 1);
  const auto at = static_cast<std::ptrdiff_t>(std::floor(q * last));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

float MedianInPlace(std::span<float> values) { return QuantileInPlace(values, 0.5); }

float MadInPlace(std::span<float> values, float center) {
  for (float& value : values) value = std::fabs(value - center);
  return MedianInPlace(values);
}

void Recent::Add(float value) {
  if (values_.size() < capacity_) {
    values_.push_back(value);
  } else {
    values_[next_] = value;
  }
  next_ = (next_ + 1) % capacity_;
}

float Recent::Median() const {
  if (values_.empty()) return std::numeric_limits<float>::quiet_NaN();
  std::vector<float> copy = values_;
  return MedianInPlace(copy);
}

void Recent::Clear() {
  values_.clear();
  next_ = 0;
}

}  // namespace ringward::detect
