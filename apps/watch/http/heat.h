#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "watch/http/snapshot.h"

namespace ringward::watch {

/// Bytes of a tile that are no number.
inline constexpr std::uint8_t kHeatNotFinite = 254;
inline constexpr std::uint8_t kHeatMissing = 255;
/// The byte of the highest number.
inline constexpr std::uint8_t kHeatMax = 253;

/// All ranks over recent steps as bytes, for a picture (docs/api.md).
struct HeatTile {
  std::size_t ranks = 0;
  std::size_t columns = 0;
  /// A byte b stands for low + (high - low) b / 253, or on the logarithmic scale for
  /// low (high / low)^(b / 253).
  double low = 0.0;
  double high = 0.0;
  bool logarithmic = false;  ///< where the highest number is more than 16 times the lowest
  std::string bytes;         ///< [ranks][columns], oldest column first
};

/// Of the newest `columns` columns, or as many as there are.
HeatTile MakeHeatTile(const JobSnapshot& job, RankMetric metric, std::size_t columns);

void AppendBase64(std::string& text, std::string_view bytes);

}  // namespace ringward::watch
