#pragma once

#include <vector>

#include "detect/detector.h"
#include "detect/rise.h"

namespace ringward::detect {

/// Tells the ranks whose memory grows towards its limit, and when it will be reached. Keeps the
/// lowest value of each block of steps, so that what comes and goes does not count, and wants
/// growth in nearly every block and a straight line (Theil-Sen slope; Theil 1950) that reaches the
/// limit within a day.
class MemoryTrendDetector final : public Detector {
 public:
  MemoryTrendDetector(const signal::Topology& topology, const DetectOptions& options);
  void OnFrame(const signal::Frame& frame, const Surroundings& around, FindingSink& sink) override;
  void Finish(signal::Time now, FindingSink& sink) override;

 private:
  struct Series {
    std::vector<float> blocks;  ///< lowest value of each, oldest first
    float lowest = 0.0F;
    float limit = 0.0F;
    bool any = false;
    RiseAge age;
    signal::Finding told{};
  };

  void EndBlock(const signal::Frame& frame, FindingSink& sink);
  void Judge(std::size_t rank, const signal::Frame& frame, FindingSink& sink);

  const std::size_t world_;
  std::vector<Series> series_;
  std::vector<double> times_;  ///< seconds at the end of each kept block
  std::size_t frames_ = 0;
  signal::Time block_start_{};
};

}  // namespace ringward::detect
