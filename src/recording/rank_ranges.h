#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringward::recording {

/// Ranks as JSON that SQL can look into and that stays short for thousands: [[0,2],[7,7]] is 0, 1,
/// 2 and 7. Any order is kept.
std::string RangesOf(std::span<const std::int32_t> ranks);

/// Fills `ranks`; false where `text` is not what RangesOf writes, or holds more than kRanksMax
/// ranks.
bool RanksOf(std::string_view text, std::vector<std::int32_t>& ranks);

}  // namespace ringward::recording
