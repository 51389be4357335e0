#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "detect/detector.h"
#include "watch/job_watch.h"
#include "watch/source.h"

namespace ringward::watch {

struct WatcherOptions {
  detect::DetectOptions detect;
  std::chrono::milliseconds interval{1000};  ///< between judgements, > 0
  /// A new file: the first job is recorded in it.
  std::optional<recording::Writer> record{};
};

class Watcher;

/// What one look at a job came to; valid during the call that gives it.
struct JobLook {
  const JobEvents& job;
  std::span<const RankSight> sights;
  std::span<const signal::Event> events;
  Clock::Duration monotonic;  ///< when
};

/// What happened to the watcher itself, and what is lost by it.
struct SelfNews {
  enum class Kind : std::uint8_t {
    kClock,      ///< the clock of this machine was set
    kRules,      ///< other rules are in force
    kRecording,  ///< recording has stopped
  };
  Kind kind{};
  std::string text;      ///< a sentence
  std::string job{};     ///< kRecording: whose
  double seconds = 0.0;  ///< kClock: by how much it was set; negative: back
};

/// Hears of what happens, on the thread that calls Look().
class Listener {
 public:
  virtual ~Listener() = default;
  /// Every look at a job, before anything else of it.
  virtual void OnLook(const JobLook& look) = 0;
  /// All ranks of the job are seen, or its first steps have ended; and once more when those that
  /// were missing then are seen too.
  virtual void OnJob(const JobEvents& job) = 0;
  virtual void OnIncident(const JobEvents& job, const Told& told) = 0;
  /// All its ranks have ended, or watching has.
  virtual void OnEnd(const JobWatch& job) = 0;
  virtual void OnSelf(const SelfNews& /*news*/) {}
  /// Once a look is over, all jobs; `judged`: the pipelines have run in it.
  virtual void OnLooked(const Watcher& watcher, bool judged) = 0;
};

/// Watches all jobs that a source shows, each with a pipeline of its own. Not safe for concurrent
/// use.
class Watcher {
 public:
  /// `source`, `clock` and `listener` outlive it.
  Watcher(WatcherOptions options, Source& source, const Clock& clock, Listener& listener);

  /// Looks once, and judges where the interval has passed.
  void Look();
  /// When to look next: several times an interval, so that rings do not run over and ends are seen
  /// in their order.
  Clock::Duration next_look() const { return next_look_; }
  /// Ends watching: what is open is closed.
  void Finish();

  /// Rules of all jobs from the next judgement on, and of those to come; DetectOptions::more stays.
  /// `from` says where they come from.
  void SetRules(const detect::DetectOptions& options, const std::string& from);
  const detect::DetectOptions& rules() const { return options_.detect; }

  std::size_t jobs() const { return jobs_.size(); }  ///< that are watched now
  bool any_job() const { return any_job_; }          ///< was ever watched
  bool found_any() const { return found_any_; }
  /// Events that recordings lack because they stopped.
  std::uint64_t not_recorded() const;
  const std::vector<std::unique_ptr<JobWatch>>& watches() const { return jobs_; }

 private:
  using Sights = std::vector<RankSight>;
  signal::Time Received() const;
  JobWatch& Begin(const RankSight& sight);
  bool IsBelievable(const telemetry::SegmentInfo& who) const;
  JobWatch* JobOf(const RankSight& sight);
  void WarnOnce(const std::string& what);
  std::map<JobWatch*, Sights> Assign(Sights sights);
  void Announce(JobWatch& job);
  void Tell(JobWatch& job, const std::vector<Told>& told);
  void TellClock();
  void End(JobWatch& job);

  WatcherOptions options_;
  Source& source_;
  const Clock& clock_;
  Listener& listener_;
  Clock::Duration wall_offset_;  ///< so that the time of receipt never goes back
  Clock::Duration offset_;       ///< of the wall clock, at the last look
  Clock::Duration next_look_{};
  Clock::Duration next_judgement_{};
  std::vector<std::unique_ptr<JobWatch>> jobs_;
  std::map<const JobWatch*, bool> announced_;  ///< and whether all ranks were seen by then
  std::set<std::string> warned_;
  bool any_job_ = false;
  bool found_any_ = false;
  std::uint64_t not_recorded_ = 0;  ///< of jobs that have ended
};

}  // namespace ringward::watch
