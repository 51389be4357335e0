#pragma once

#include <cstdint>
#include <vector>

#include "detect/detector.h"
#include "detect/threshold_rule.h"

namespace ringward::detect {

/// Tells where a rank's number lies beyond a limit that the user has set, for as long as the rule
/// asks. One stretch of trouble for each rule, whichever ranks are in it; it ends when no rank is
/// beyond any more. Rules that stay the same keep what they have seen when others change.
class ThresholdDetector final : public Detector {
 public:
  ThresholdDetector(const signal::Topology& topology, const DetectOptions& options);
  void OnFrame(const signal::Frame& frame, const Surroundings& around, FindingSink& sink) override;
  void OnEvent(const signal::Event& event, const Surroundings& around, FindingSink& sink) override;
  void OnRules(const DetectOptions& options, signal::Time now, FindingSink& sink) override;
  void Finish(signal::Time now, FindingSink& sink) override;

 private:
  struct Beyond {
    bool is = false;
    signal::Time since{};
    std::int64_t since_step = 0;
    double value = 0.0;
  };
  struct Watched {
    ThresholdRule rule;
    std::vector<Beyond> ranks;  ///< [world]
    signal::Finding told{};
  };

  static void Read(Watched& watched, const signal::Frame& frame);
  static void Judge(Watched& watched, const signal::Frame& frame, FindingSink& sink);
  static void Tell(Watched& watched, std::vector<std::int32_t> ranks, const signal::Frame& frame,
                   FindingSink& sink);

  const std::size_t world_;
  std::vector<Watched> watched_;
};

}  // namespace ringward::detect
