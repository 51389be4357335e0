#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ringward::detect {

/// A normal distribution's standard deviation over its median absolute deviation.
inline constexpr double kMadToSigma = 1.4826;

/// The median; the lower of the two middle values of an even count. Reorders `values`.
/// REQUIRES: not empty, no NaN.
float MedianInPlace(std::span<float> values);

/// The q-quantile, 0 <= q <= 1, by rank without interpolation. Reorders `values`.
/// REQUIRES: not empty, no NaN.
float QuantileInPlace(std::span<float> values, double q);

/// Median of |value - center|. Reorders and overwrites `values`. REQUIRES: as for MedianInPlace.
float MadInPlace(std::span<float> values, float center);

/// The last `capacity` values, in no particular order. Not safe for concurrent use.
class Recent {
 public:
  explicit Recent(std::size_t capacity) : capacity_(capacity) { values_.reserve(capacity); }
  void Add(float value);
  std::size_t size() const { return values_.size(); }
  bool full() const { return values_.size() == capacity_; }
  std::span<const float> values() const { return values_; }
  /// NaN where there is none.
  float Median() const;
  void Clear();

 private:
  std::size_t capacity_;
  std::size_t next_ = 0;
  std::vector<float> values_;
};

}  // namespace ringward::detect
