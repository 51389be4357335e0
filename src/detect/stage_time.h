#pragma once

#include <map>
#include <vector>

#include "detect/detector.h"
#include "detect/rank_shift.h"
#include "detect/robust.h"
#include "detect/step_times.h"

namespace ringward::detect {

/// Pipeline jobs: a stage all of whose ranks have shifted together against the other stages does
/// more work than before; no machine of it is to blame (kStageSlow). Compares the stages' median
/// self times by RankShift. Jobs without stages of at least two ranks are passed over.
class StageTimeDetector final : public Detector {
 public:
  StageTimeDetector(const signal::Topology& topology, const DetectOptions& options);
  void OnFrame(const signal::Frame& frame, const Surroundings& around, FindingSink& sink) override;
  void OnRules(const DetectOptions& options, signal::Time /*now*/, FindingSink& /*sink*/) override {
    options_ = options;
  }
  void Finish(signal::Time now, FindingSink& sink) override;

 private:
  struct Account {
    std::int64_t since_step = 0;
    double frames = 0.0;
    double excess = 0.0;  ///< seconds, sum over frames
    double steps = 0.0;
    double trend = 0.0;
    signal::Finding told;
  };

  bool Applies() const;
  void ObserveStage(std::size_t stage, const signal::Frame& frame, const Surroundings& around,
                    FindingSink& sink);
  void Close(std::size_t stage, signal::Time now, FindingSink& sink);

  DetectOptions options_;
  const std::size_t world_;
  const signal::Topology topology_;
  const signal::Topology::Groups stages_;
  StepTimes times_;
  Recent first_steps_{8};
  float floor_ = 0.0F;
  RankShift shift_;
  std::vector<float> x_;
  std::vector<Account> accounts_;
  std::vector<float> scratch_;
};

}  // namespace ringward::detect
