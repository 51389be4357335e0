#pragma once

#include <array>
#include <vector>

#include "detect/detector.h"
#include "detect/rise.h"
#include "signal/metric.h"

namespace ringward::detect {

/// Tells hosts whose memory (kMemoryRunsOut, within an hour) or disk space (kDiskRunsOut, within
/// six) falls towards none along a straight line. Keeps the highest value of each block of time, so
/// that what comes and goes does not count. A host's value is the lowest that its ranks see.
class ExhaustionDetector final : public Detector {
 public:
  ExhaustionDetector(const signal::Topology& topology, const DetectOptions& options);
  void OnFrame(const signal::Frame& frame, const Surroundings& around, FindingSink& sink) override;
  void Finish(signal::Time now, FindingSink& sink) override;

  static constexpr std::size_t kStores = 5;

 private:
  struct Series {
    std::vector<double> times{};  ///< seconds at the end of each block
    std::vector<float> blocks{};  ///< least used of each: minus the bytes left
    float least = 0.0F;
    bool any = false;
    RiseAge age{};
    signal::Time block_start{};
    signal::Finding told{};
  };
  using Host = std::array<Series, kStores>;

  void Take(std::size_t host, std::size_t store, float left, const signal::Frame& frame,
            FindingSink& sink);
  void Judge(std::size_t host, std::size_t store, const signal::Frame& frame, FindingSink& sink);

  const signal::Topology topology_;
  const signal::Topology::Groups hosts_;
  std::vector<Host> state_;
};

}  // namespace ringward::detect
