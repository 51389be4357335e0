#pragma once

#include <vector>

namespace ringward::detect {

/// How a series rises: of interest where it does so in nearly every block and along a straight
/// line.
struct Rise {
  int rises = 0;          ///< differences above 0
  double slope = 0.0;     ///< a second: median of the slopes of all pairs (Theil 1950)
  double growth = 0.0;    ///< over the whole series, by the slope
  bool straight = false;  ///< hardly any scatter about the line
};

/// Blocks that a rise is looked for in.
inline constexpr std::size_t kRiseBlocks = 12;
/// Of 11 differences that must be above 0; by chance 12 in 2048 per window.
inline constexpr int kRisesMin = 10;

/// The lowest values `y` of blocks that ended at the seconds `t`. With fewer than kRisesMin rises
/// only those are told. REQUIRES: t.size() == y.size() >= 2.
Rise RiseOf(const std::vector<double>& t, const std::vector<float>& y);

}  // namespace ringward::detect
