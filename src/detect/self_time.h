#pragma once

#include <map>
#include <memory>
#include <vector>

#include "detect/detector.h"
#include "detect/rank_shift.h"
#include "detect/robust.h"
#include "detect/starvation.h"
#include "detect/step_times.h"
#include "detect/throttling.h"

namespace ringward::detect {

/// Names the ranks whose self time (step minus wait) has grown against their own past and against
/// the others. Two tests run side by side: of the level (RankShift), and of the tail, which sees a
/// rank that is slow now and then while its median stays. Both are then judged alike: by the
/// median of the excess over its mean it is kRankSlow or kRankTail, by the phase that holds the
/// excess the input or the machine, and told anew each time the stretch is twice as long. Excess
/// below DetectOptions::worth of a step is not told, and while few ranks have shown few steps, only
/// larger excess is. Where the source tells of run queues, time without a core that makes up most
/// of the excess turns the finding into kRankStarved, and a rank is told only after such word; on a
/// core that others use, all its time without one counts, and it is told after several words. A
/// rank whose GPU was held back most of the stretch, and usually is not, is kRankThrottled.
class SelfTimeDetector final : public Detector {
 public:
  SelfTimeDetector(const signal::Topology& topology, const DetectOptions& options);
  void OnFrame(const signal::Frame& frame, const Surroundings& around, FindingSink& sink) override;
  void OnRules(const DetectOptions& options, signal::Time /*now*/, FindingSink& /*sink*/) override {
    options_ = options;
  }
  void Finish(signal::Time now, FindingSink& sink) override;

 private:
  /// What is kept of a rank that may be in trouble, from the first sign on.
  struct Suspect {
    std::int64_t since_step = 0;
    std::int64_t steps = 0;
    double excess = 0.0;       ///< seconds, sum
    double excess_data = 0.0;  ///< of it in phase data
    double seconds = 0.0;      ///< of the job's steps
    double starved = 0.0;      ///< seconds without a core beyond the usual
    double lost_core = 0.0;    ///< the same with what is usual
    double others = 0.0;       ///< share of its core that others used, summed over reports
    double excess_then = 0.0;  ///< excess when that was last told
    double shares = 0.0;       ///< without a core: sum over the reports of it,
    double reports = 0.0;      ///< and their number
    double held_back = 0.0;    ///< share of the time that its GPU was, summed over reports
    int gpu_reports = 0;
    double lost = 0.0;       ///< seconds by which the job would have been faster without the rank
    Recent recent{64};       ///< excess of single frames, seconds
    std::uint64_t open = 0;  ///< id of the finding told; 0: none
    signal::Finding told;
    std::int64_t told_steps = 0;  ///< that it had lasted when it was told last
    double trend = 0.0;           ///< excess over step of late, fast average
  };

  bool Prepare(const signal::Frame& frame);
  void FindTail();
  void LearnTail();
  void LearnUsual(std::size_t rank);
  void Account(const signal::Frame& frame, const Surroundings& around);
  void AccountOne(std::size_t rank, const signal::Frame& frame);
  bool IsBeyondChance(std::size_t rank, const Suspect& suspect, const Surroundings& around) const;
  void Judge(std::size_t rank, Suspect& suspect, const signal::Frame& frame,
             const Surroundings& around, FindingSink& sink);
  signal::Finding Describe(std::size_t rank, const Suspect& suspect) const;
  void Tell(std::size_t rank, Suspect& suspect, FindingSink& sink);
  void Close(std::size_t rank, Suspect& suspect, signal::Time now, FindingSink& sink);
  static bool Shares(const Suspect& suspect);
  static bool IsStarved(const Suspect& suspect);
  bool MustWait(std::size_t rank, const Suspect& suspect, signal::Time now) const;
  bool IsThrottled(std::size_t rank, const Suspect& suspect) const;
  double TailLevel(const Surroundings& around) const;
  double Worth() const;

  DetectOptions options_;
  const signal::Topology topology_;
  const std::size_t world_;
  RankShift shift_;
  Starvation starvation_;
  Throttling throttling_;
  StepTimes times_;
  float floor_ = 0.0F;       ///< added to self time before the logarithm, seconds
  Recent first_steps_{8};    ///< that set the floor
  Recent recent_steps_{64};  ///< typical steps
  float typical_ = 0.0F;     ///< their median
  std::vector<float> x_;
  std::vector<float> expected_;     ///< self time, seconds, [world]
  std::vector<Recent> usual_data_;  ///< time in phase data of late, seconds, [world]
  std::vector<float> tail_value_;   ///< excess beyond noise over the typical step, in [0, 2]
  std::vector<float> tail_cusum_;
  float tail_mean_ = 0.0F;  ///< usual tail value of all ranks
  float tail_now_ = 0.0F;   ///< the same of late
  ExcursionTail tail_;
  std::vector<float> tail_highest_;  ///< of each rank's present excursion
  std::vector<int> tail_hits_;       ///< frames beyond noise in it
  float largest_ = 0.0F;             ///< self time of this step: largest and the one behind it
  float second_ = 0.0F;
  std::size_t last_ = 0;  ///< rank of the largest
  std::map<std::size_t, Suspect> suspects_;
};

}  // namespace ringward::detect
