#pragma once

#include <cstdint>
#include <span>

#include "learn/data/window.h"

namespace ringward::learn {

/// How far each row lies from the one before it, relative to how far any two lie apart: the mean
/// square of successive differences over twice the variance (von Neumann, 1941), the median over
/// the inputs that vary and have more than two values (over the others where there are none). About
/// 1 for rows in no order, near 0 for readings of slow sensors. 1 where nothing varies or there are
/// fewer than three rows. `rows` index `data` and rise; at most 100,000 of them, from the first on,
/// are looked at.
double SuccessiveDifference(const WindowedRows& data, std::span<const std::uint32_t> rows);

}  // namespace ringward::learn
