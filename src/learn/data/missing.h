#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace ringward::learn {

/// Stands in a row of inputs for a number that the data do not hold. Rows keep it until a net is to
/// read them: what is best put in its place depends on the row's other inputs.
inline constexpr float kMissingInput = std::numeric_limits<float>::quiet_NaN();

inline bool IsMissingInput(float value) { return std::isnan(value); }

inline bool AnyMissing(std::span<const float> inputs) {
  // Counting has no early exit, so it looks at many inputs at a time: most rows are whole.
  return std::count_if(inputs.begin(), inputs.end(), IsMissingInput) > 0;
}

}  // namespace ringward::learn
