#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "detect/robust.h"
#include "signal/frame.h"

namespace ringward::detect {

/// For how long ranks had work and no core: time in the run queue, and time that the hypervisor
/// took. Sources tell it about once a second, not with every step. Not safe for concurrent use.
class Starvation {
 public:
  explicit Starvation(std::size_t world) : ranks_(world) {}

  /// Takes what the frame tells of the time since each rank told it last.
  void Read(const signal::Frame& frame);
  /// Whether the last frame told it of the rank.
  bool told(std::size_t rank) const { return ranks_[rank].told; }
  /// Seconds without a core beyond the rank's usual, of the time that the last frame told of. 0
  /// where it told nothing.
  double excess(std::size_t rank) const { return ranks_[rank].excess; }
  /// The same with what is usual.
  double lost(std::size_t rank) const { return ranks_[rank].lost; }
  /// Share of its core's time that others used, when it was last told.
  float others(std::size_t rank) const { return ranks_[rank].others; }
  /// The rank told it of late, and will again.
  bool tells(std::size_t rank, signal::Time now) const;
  /// What the last frame told of the rank is usual.
  void Learn(std::size_t rank);
  /// "it stood in the queue of core 1 for 42 % of the time (3 % before), …".
  std::string Describe(std::size_t rank) const;
  /// Share of the time without a core, when it was last told, and usually.
  float share(std::size_t rank) const { return ranks_[rank].wait + ranks_[rank].stolen; }
  float usual(std::size_t rank) const;
  /// Enough was learned to call something unusual.
  bool knows_usual(std::size_t rank) const { return ranks_[rank].usual.size() >= 8; }

 private:
  struct Rank {
    bool told = false;
    bool ever = false;
    signal::Time at{};
    float wait = 0.0F;
    float stolen = 0.0F;
    float others = 0.0F;
    float core = -1.0F;
    double excess = 0.0;
    double lost = 0.0;
    std::int64_t at_steps = 0;    ///< when it was last told
    float lost_per_step = -1.0F;  ///< seconds without a core, since it was told before
    Recent usual{64};             ///< shares
    Recent usual_per_step{64};    ///< seconds
  };

  static double Usual(const Rank& rank, double seconds, double steps);

  std::vector<Rank> ranks_;
  std::int64_t steps_ = 0;  ///< that were seen
  bool any_told_ = false;   ///< by the last frame
};

}  // namespace ringward::detect
