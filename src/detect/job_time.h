#pragma once

#include <vector>

#include "detect/detector.h"
#include "detect/episode.h"
#include "detect/step_times.h"

namespace ringward::detect {

/// Slowness that no rank is to blame for. Watches what all ranks have in common:
/// - the shortest wait of a step: the last rank to arrive waits for nobody, so its wait is the
///   transfer itself (kWaitSlow);
/// - the median time in phase data and in compute (kAllSlow, with the phase);
/// - how far the ranks are apart from step to step (kUnevenWork), told only where turns are taken:
///   no rank is the slowest much more often than the others.
class JobTimeDetector final : public Detector {
 public:
  JobTimeDetector(const signal::Topology& topology, const DetectOptions& options);
  void OnFrame(const signal::Frame& frame, const Surroundings& around, FindingSink& sink) override;
  void OnRules(const DetectOptions& options, signal::Time /*now*/, FindingSink& /*sink*/) override {
    options_ = options;
  }
  void Finish(signal::Time now, FindingSink& sink) override;

 private:
  struct Series {
    signal::FindingKind kind;
    signal::Phase phase;
    const char* what;
    Episode episode;
    signal::Finding told;
  };

  /// `wander`: a guess of how far its level moves by itself (level_shift.h).
  static Series MakeSeries(signal::FindingKind kind, signal::Phase phase, const char* what,
                           float wander);
  void ObserveWait(const signal::Frame& frame, const Surroundings& around, FindingSink& sink);
  void ObserveSpread(const signal::Frame& frame, const Surroundings& around, FindingSink& sink);
  void Feed(Series& series, float seconds, const signal::Frame& frame, const Surroundings& around,
            FindingSink& sink);
  void Tell(Series& series, signal::Finding finding, FindingSink& sink);
  double Worth(const Episode& episode) const;
  bool OneRankLeads() const;

  DetectOptions options_;
  const std::size_t world_;
  StepTimes times_;
  Recent first_steps_{8};
  float floor_ = 0.0F;
  Series wait_, data_, compute_, spread_;
  std::vector<float> usual_;  ///< self time of each rank, slow average, seconds
  std::vector<float> scratch_;
  std::vector<std::size_t> leaders_;  ///< slowest rank of each of the last steps
  std::size_t leader_at_ = 0;
  Recent gaps_{128};  ///< slowest less median self time, seconds
};

}  // namespace ringward::detect
