#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "detect/robust.h"
#include "signal/frame.h"

namespace ringward::detect {

/// For how long ranks' GPUs had their clocks held back, by heat or by their power supply. Sources
/// tell it about once a second. Not safe for concurrent use.
class Throttling {
 public:
  explicit Throttling(std::size_t world) : ranks_(world) {}

  void Read(const signal::Frame& frame);
  /// Whether the last frame told it of the rank.
  bool told(std::size_t rank) const { return ranks_[rank].told; }
  /// The rank told it of late, and will again.
  bool tells(std::size_t rank, signal::Time now) const;
  /// Share of the time, when it was last told, and usually.
  float share(std::size_t rank) const { return ranks_[rank].share; }
  float usual(std::size_t rank) const;
  /// What the last frame told of the rank is usual.
  void Learn(std::size_t rank);
  /// "its GPU 3 was held back for 80 % of the time (too hot; 705 MHz; 91 degrees)".
  std::string Describe(std::size_t rank, double share) const;

 private:
  struct Rank {
    bool told = false;
    bool ever = false;
    signal::Time at{};
    float share = 0.0F;
    float gpu = -1.0F;
    float reasons = 0.0F;  ///< the last there were
    float celsius = 0.0F;
    float hertz = 0.0F;
    Recent usual{64};
  };

  std::vector<Rank> ranks_;
  bool any_told_ = false;  ///< by the last frame
};

}  // namespace ringward::detect
