#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "signal/event.h"
#include "signal/frame_assembler.h"
#include "signal/metric.h"
#include "watch/source.h"
#include "watch/trainings.h"

namespace ringward::watch {

/// Which run of a job this is: what all its ranks agree on.
struct JobRun {
  std::string name;
  std::int32_t world = 1;
  std::vector<std::string> hosts{};  ///< that its ranks are watched on, as they were met
};

/// Makes events of what is seen of the ranks of one run of a job: frames of their step records,
/// where ranks stand while nothing ends, who ended. Knows no clock but the times it is given.
/// Not safe for concurrent use.
class JobEvents {
 public:
  /// REQUIRES: 1 <= run.world.
  explicit JobEvents(JobRun run);

  /// The events of one look, in order; `sights` are those of this run's ranks, `monotonic` and
  /// `received` the same moment on the host's and on the receiver's clock, neither going back.
  std::vector<signal::Event> Take(std::span<const RankSight> sights, Clock::Duration monotonic,
                                  signal::Time received);

  /// Whether the sight is of this run: the same world, and no other process for a rank that lives.
  bool IsOf(const RankSight& sight) const;
  /// Whether the rank, where it is known to live, runs on that host.
  bool IsOnHost(std::int32_t rank, const std::string& host) const;
  /// All ranks that were ever seen have ended: no more events come. A rank that we are blind to
  /// counts as ended once others have left in order, or all are out of sight, for long enough.
  bool done() const;
  const JobRun& run() const { return run_; }
  const signal::MetricTable& metrics() const { return metrics_; }
  std::size_t seen() const { return ranks_.size(); }
  std::size_t living() const;
  /// Of the newest frame; -1: none yet. Seconds a step, median over the ranks that tell.
  std::int64_t step() const { return step_; }
  double step_seconds() const { return step_seconds_; }
  /// Records and samples that were lost, since the last call.
  std::uint64_t TakeDropped();
  /// Since the beginning: step and metric records that ranks wrote over before they were read, or
  /// that were malformed.
  std::uint64_t records_lost() const { return records_lost_; }
  /// Since the beginning: samples that fitted into no frame, or came of ranks that were apart
  /// (Trainings).
  std::uint64_t samples_lost() const;

 private:
  struct Metric {
    std::uint64_t step = 0;
    signal::Known known{};
    double sum = 0.0;
    std::uint64_t count = 0;
  };
  struct Machine {
    double sum = 0.0;
    double last = 0.0;
    int count = 0;
  };
  struct Rank {
    std::int32_t pid = 0;
    std::uint64_t start_time = 0;
    std::string host{};
    bool gone = false;
    bool blind = false;
    Clock::Duration looked{};
    std::vector<Metric> pending{};               ///< of steps that have not ended yet
    std::map<signal::Known, Machine> machine{};  ///< told since its last step with any
    Clock::Duration last_end{};
    Clock::Duration taken_end{};  ///< of the newest step that was taken
    std::uint64_t cpu_ticks = 0;
    Clock::Duration cpu_changed{};
    std::optional<signal::Progress> told{};
    Clock::Duration told_at{};
    bool settled = true;  ///< what was told last is that it moves again
  };
  /// A step record and whose it is.
  struct Ended {
    std::int32_t rank;
    telemetry::StepRecord record;
    bool newest;  ///< of the rank's in this look
  };

  bool IsBack(const RankSight& sight) const;
  void TellBack(std::span<const RankSight> sights);
  bool Place(std::span<const RankSight> sights);
  void Open();
  void Push(decltype(signal::Event::what) what);
  void Meet(const RankSight& sight);
  void TakeMetrics(const RankSight& sight);
  void TakeMachine(const RankSight& sight);
  void AddMachine(std::int32_t rank, std::int64_t step);
  void TakeSteps(std::span<const RankSight> sights);
  Clock::Duration Horizon() const;
  void FeedSteps();
  void TakeStep(const Ended& ended);
  void AddSample(std::int32_t rank, signal::Known metric, std::int64_t step, double value);
  void Hold(const Ended& ended);
  void Lose(const Ended& ended);
  void CountStep(const Ended& ended);
  void TakeFrames();
  void TakeProgress(const RankSight& sight);
  void TakeLog(const RankSight& sight);
  void EndRank(const RankSight& sight);
  void TellHeld();
  void TakeEnds(std::span<const RankSight> sights);
  void FindLost(std::span<const RankSight> sights);
  void TakeBlind(std::span<const RankSight> sights);
  bool SettledAll() const;

  JobRun run_;
  signal::MetricTable metrics_;
  std::vector<signal::RankPlace> places_;  ///< [world]
  std::set<std::string> hosts_;
  std::optional<signal::FrameAssembler> frames_;
  std::map<std::int32_t, Rank> ranks_;
  std::vector<signal::Event> events_;
  std::uint64_t next_event_ = 0;
  Clock::Duration monotonic_{};
  signal::Time received_{};
  Trainings trainings_;
  std::map<std::int32_t, std::deque<Ended>> apart_;  ///< steps of ranks that are apart
  std::int64_t step_ = -1;
  double step_seconds_ = 0.0;
  std::vector<Ended> steps_;                    ///< that some host may still tell others before
  std::vector<std::int32_t> held_;              ///< gone without a word, not told yet
  Clock::Duration held_since_{};                ///< at the latest
  std::optional<Clock::Duration> blind_since_;  ///< to all that have not ended
  std::optional<Clock::Duration> left_at_;      ///< when a recorder was closed last
  bool orderly_ = true;                         ///< all that ended closed their recorder
  std::uint64_t records_lost_ = 0;
  std::uint64_t samples_lost_before_ = 0;  ///< in the trainings before this one, or apart
  std::uint64_t dropped_told_ = 0;
};

}  // namespace ringward::watch
