#pragma once

#include <map>
#include <vector>

#include "detect/detector.h"
#include "detect/robust.h"
#include "detect/step_times.h"

namespace ringward::detect {

/// Who has stopped. A job in step moves as a whole, so the question is who does not move while the
/// others wait:
/// - kRankStalled: a frame in which one rank spent far longer outside the collective than any ever
///   did, the others inside it. The stall is over when such a frame arrives;
/// - kRankSilent: no frame for longer than it ever took, and a rank whose collective count is
///   behind, or of which nothing is heard, or whose process does not run;
/// - kAllWait: all of them inside a collective, none of them stopped, for longer than a step ever
///   took;
/// - kRankEnded: a process has ended while the job has not. One that is seen again in its place
///   (SourceBack) starts anew;
/// - kSourceLost: frames hold nothing of a rank although the job goes on;
/// - kBlind: ranks whose source is known to be away. They may be well: where the others wait and
///   nobody who is in sight keeps them, their host is gone (kHostLost).
/// Before the first frame nothing is known of how long a step takes, and ranks load, compile and
/// wait for one another: there only processes that do not run are told, after six times as long.
class LivenessDetector final : public Detector {
 public:
  LivenessDetector(const signal::Topology& topology, const DetectOptions& options);
  void OnFrame(const signal::Frame& frame, const Surroundings& around, FindingSink& sink) override;
  void OnEvent(const signal::Event& event, const Surroundings& around, FindingSink& sink) override;
  void OnTime(signal::Time now, const Surroundings& around, FindingSink& sink) override;
  void OnRules(const DetectOptions& options, signal::Time /*now*/, FindingSink& /*sink*/) override {
    options_ = options;
  }
  void Finish(signal::Time now, FindingSink& sink) override;

 private:
  struct Standing {
    signal::Progress last;
    signal::Time moved{};  ///< when last it was elsewhere than before
    signal::Time heard{};
    bool known = false;
    bool seen = false;  ///< has been in a frame; of others it is nobody's duty to report here
    bool ended = false;
    bool lost = false;   ///< frames hold nothing of it
    bool blind = false;  ///< its source is away
    bool late = false;   ///< we see it again, and no frame has held it since
    int missing = 0;     ///< frames in a row without it
  };

  void FindStalled(const signal::Frame& frame, FindingSink& sink);
  void FindMissing(const signal::Frame& frame, FindingSink& sink);
  void Heard(const signal::Progress& progress, signal::Time at);
  /// The ranks that are inside a collective and run.
  struct Waiting {
    std::size_t count = 0;
    std::uint64_t first = 0;     ///< of their collectives, the furthest behind
    std::uint64_t sequence = 0;  ///< the furthest ahead
    signal::Time since{};        ///< when the one that moved longest ago did
    signal::Time last{};         ///< the one that moved last
  };

  Waiting WhoWaits() const;
  void TellSilent(const Waiting& waiting, signal::Time now, FindingSink& sink);
  void TellAllWait(const Waiting& waiting, signal::Time now, FindingSink& sink);
  void Open(signal::Finding finding, signal::Time since, FindingSink& sink);
  bool IsSilent(const Standing& standing, std::uint64_t sequence, signal::Time now) const;
  void CloseSilence(signal::Time now, FindingSink& sink);
  void MarkLost(const std::vector<std::int32_t>& ranks, bool lost, signal::Time at,
                FindingSink& sink);
  void GoBlind(const std::vector<std::int32_t>& ranks, signal::Time at, FindingSink& sink);
  static void StartAnew(Standing& standing, std::int32_t rank);
  void SeeAgain(const std::vector<std::int32_t>& ranks, signal::Time at, FindingSink& sink);
  /// Ranks that are out of sight, and their host where it is one.
  std::vector<std::int32_t> BlindRanks(std::string& host) const;
  bool Exists(std::int32_t rank) const;

  DetectOptions options_;
  const signal::Topology topology_;
  const std::size_t world_;
  std::vector<Standing> standing_;
  StepTimes times_;
  Recent steps_{64};
  float longest_self_ = 0.0F;  ///< seconds, of any rank so far
  std::int64_t step_ = -1;
  signal::Time last_frame_{};
  double longest_gap_ = 0.0;  ///< seconds between frames of the healthy job
  bool closed_ = false;
  signal::Finding silence_;                       ///< open kRankSilent, kAllWait or kHostLost
  signal::Time silent_since_{};                   ///< of it
  std::map<std::int32_t, signal::Finding> lost_;  ///< open kSourceLost, by rank
  std::vector<signal::Finding> blind_;            ///< open kBlind, one a host
};

}  // namespace ringward::detect
