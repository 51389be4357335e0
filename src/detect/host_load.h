#pragma once

#include <vector>

#include "detect/detector.h"
#include "detect/starvation.h"

namespace ringward::detect {

/// Tells hosts on which every rank is short of cores, far more than usual or more than half of the
/// time (kHostBusy), and hosts that move memory to and from their disks (kHostSwaps). The first
/// names no rank: where all suffer alike none is slower for it.
class HostLoadDetector final : public Detector {
 public:
  HostLoadDetector(const signal::Topology& topology, const DetectOptions& options);
  void OnFrame(const signal::Frame& frame, const Surroundings& around, FindingSink& sink) override;
  void Finish(signal::Time now, FindingSink& sink) override;

 private:
  /// Reports in a row that say yes, and since then that say no.
  struct State {
    int yes = 0;
    int no = 0;
    std::int64_t since_step = 0;
    signal::Finding told{};
  };
  struct Host {
    std::vector<char> heard{};  ///< its ranks', since the last judgement
    float least = 1.0F;         ///< share without a core, of the rank that is best off
    float least_excess = 1.0F;  ///< over the usual, the same
    State busy{};
    State swaps{};
  };

  void ObserveCores(std::size_t host, const signal::Frame& frame, FindingSink& sink);
  void ObserveSwap(std::size_t host, const signal::Frame& frame, FindingSink& sink);
  /// True where `state` has said yes often enough to be told now.
  bool Observe(State& state, bool yes, const signal::Frame& frame, FindingSink& sink);
  void Tell(std::size_t host, State& state, signal::Finding finding, FindingSink& sink);

  const signal::Topology topology_;
  const signal::Topology::Groups hosts_;
  Starvation starvation_;
  std::vector<Host> state_;
};

}  // namespace ringward::detect
