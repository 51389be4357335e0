#pragma once

#include <vector>

#include "detect/detector.h"
#include "detect/robust.h"
#include "detect/spike_tail.h"

namespace ringward::detect {

/// Tells hosts whose network sends again far more than before and than the other hosts
/// (kRetransmits), and hosts whose wall clock has moved against the receiver's (kClockSkew). A
/// host's value is the largest of its ranks'. Tells ranks whose GPU counts more memory errors
/// beyond repair than when it was first seen (kGpuErrors), to the end of the job: only a reset ends
/// that.
class HostCountersDetector final : public Detector {
 public:
  HostCountersDetector(const signal::Topology& topology, const DetectOptions& options);
  void OnFrame(const signal::Frame& frame, const Surroundings& around, FindingSink& sink) override;
  void Finish(signal::Time now, FindingSink& sink) override;

 private:
  struct Host {
    Recent usual{64};
    int high = 0;  ///< frames in a row far above
    int low = 0;   ///< and back
    signal::Finding told{};
    float clock = 0.0F;  ///< offset when it was last told or first seen, seconds
    bool clock_known = false;
    int clock_apart = 0;
    signal::Finding clock_told{};
  };

  void ObserveRetransmits(std::size_t host, float value, float others, const signal::Frame& frame,
                          FindingSink& sink);
  void ObserveClock(std::size_t host, float offset, const signal::Frame& frame, FindingSink& sink);
  struct Gpu {
    float errors = -1.0F;  ///< when it was first seen; < 0: not yet
    signal::Finding told{};
  };

  void ObserveErrors(const signal::Frame& frame, FindingSink& sink);
  /// The largest value of each host's ranks; kMissing where none reports.
  bool PerHost(const signal::Frame& frame, signal::Known metric);
  std::string NameOfHost(std::size_t host) const;

  const signal::Topology topology_;
  const signal::Topology::Groups hosts_;
  std::vector<Host> state_;
  std::vector<Gpu> gpus_;  ///< of each rank
  std::vector<float> values_;
  std::vector<float> scratch_;
};

}  // namespace ringward::detect
