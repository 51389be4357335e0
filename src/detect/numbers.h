#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "detect/detector.h"
#include "detect/robust.h"
#include "detect/spike_tail.h"

namespace ringward::detect {

/// Names the ranks whose LOCAL loss or gradient norm is not finite in the first step in which any
/// is: after the next reduction every rank has it. With nothing but the reduced norm the step is
/// known and the rank is not.
class NonFiniteDetector final : public Detector {
 public:
  NonFiniteDetector(const signal::Topology& topology, const DetectOptions& options);
  void OnFrame(const signal::Frame& frame, const Surroundings& around, FindingSink& sink) override;
  void Finish(signal::Time now, FindingSink& sink) override;

 private:
  const std::size_t world_;
  signal::Finding told_;
};

/// Watches the job's loss and gradient norm (medians over ranks, logarithms): a value far above
/// what the last ones promise is a spike (kLossSpike, kGradientExplodes); a loss that stays far
/// above its best diverges (kLossDiverging), a gradient that does explodes; a gradient norm that
/// falls to nothing vanishes. A spike that is over teaches how large spikes of this job are.
class LossDetector final : public Detector {
 public:
  LossDetector(const signal::Topology& topology, const DetectOptions& options);
  void OnFrame(const signal::Frame& frame, const Surroundings& around, FindingSink& sink) override;
  void Finish(signal::Time now, FindingSink& sink) override;

 private:
  struct Series {
    signal::Known metric;
    signal::FindingKind spike;
    const char* name;
    float spike_min;    ///< smaller ones are never told, however quiet the series
    float diverged_by;  ///< above its best
    SpikeTail tail{};
    Recent recent{16};
    float best = 0.0F;  ///< lowest median of recent values so far
    bool any = false;
    int above = 0;           ///< values in a row far above the best
    float strangest = 0.0F;  ///< difference since the last value that was not strange
    signal::Finding told{};
  };

  void Observe(Series& series, const signal::Frame& frame, const Surroundings& around,
               FindingSink& sink);
  static void Close(Series& series, signal::Time now, FindingSink& sink);
  void Tell(Series& series, signal::FindingKind kind, float value, float usual,
            const signal::Frame& frame, const Surroundings& around, FindingSink& sink);

  std::array<Series, 2> series_;
  std::vector<float> scratch_;
};

}  // namespace ringward::detect
