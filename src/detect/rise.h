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

/// A line is believed for so many times as long as it has been seen: what fills a cache or copies a
/// file is straight too, for a while.
inline constexpr double kBelievedFor = 30.0;

/// Since when a series rises along a straight line.
class RiseAge {
 public:
  /// After each block; `first` and `now` are the seconds at which the blocks of `rise` begin and
  /// end.
  void Update(const Rise& rise, double first, double now) {
    const bool rises = rise.straight && rise.growth > 0.0;
    if (rises && !rising_) since_ = first;
    rising_ = rises;
    now_ = now;
  }
  /// Whether the line, seen for as long as it was, may be drawn so many seconds ahead.
  bool Reaches(double seconds) const {
    return rising_ && seconds <= kBelievedFor * (now_ - since_);
  }

 private:
  bool rising_ = false;
  double since_ = 0.0;
  double now_ = 0.0;
};

/// The lowest values `y` of blocks that ended at the seconds `t`. With fewer than kRisesMin rises
/// only those are told. REQUIRES: t.size() == y.size() >= 2.
Rise RiseOf(const std::vector<double>& t, const std::vector<float>& y);

}  // namespace ringward::detect
