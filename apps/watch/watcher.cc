#include "watch/watcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/log.h"
#include "signal/time.h"

namespace ringward::watch {
namespace {

constexpr std::chrono::milliseconds kLookMost{250};
constexpr int kLooksPerInterval = 4;
/// Between two looks no clock is slewed by so much: it was set.
constexpr std::chrono::seconds kClockSet{1};
constexpr std::int32_t kWorldMost = 1 << 17;  // more is a segment's claim that nobody believes
/// Ranks of all jobs: what is kept for a job grows with its world, whoever claims it.
constexpr std::int64_t kWorldsMost = 1 << 18;

}  // namespace

Watcher::Watcher(WatcherOptions options, Source& source, const Clock& clock, Listener& listener)
    : options_(std::move(options)),
      source_(source),
      clock_(clock),
      listener_(listener),
      wall_offset_(clock.WallNow() - clock.Now()),
      offset_(wall_offset_),
      next_judgement_(clock.Now() + options_.interval) {}

signal::Time Watcher::Received() const { return clock_.Now() + wall_offset_; }

JobWatch& Watcher::Begin(const RankSight& sight) {
  JobRun run{sight.who.job, sight.who.world};
  jobs_.push_back(std::make_unique<JobWatch>(std::move(run), options_.detect));
  JobWatch& job = *jobs_.back();
  if (options_.record) {
    // A recording holds one run: it is the first job's.
    if (!any_job_) {
      job.Record(*std::move(options_.record));
    } else {
      LogWarning("job " + sight.who.job + " is not recorded: the recording holds another run");
    }
  }
  any_job_ = true;
  return job;
}

bool Watcher::IsBelievable(const telemetry::SegmentInfo& who) const {
  return who.world >= 1 && who.world <= kWorldMost && who.rank >= 0 && who.rank < who.world;
}

/// The job of that name, begun where there is none; null where nothing is to be watched.
JobWatch* Watcher::JobOf(const RankSight& sight) {
  std::int64_t worlds = sight.who.world;
  for (const auto& known : jobs_) {
    if (known->events().run().name == sight.who.job) return known.get();
    worlds += known->events().run().world;
  }
  if (sight.ended || sight.blind) return nullptr;
  if (worlds > kWorldsMost) {
    WarnOnce("job " + sight.who.job + " is not watched: the jobs that are have too many ranks");
    return nullptr;
  }
  return &Begin(sight);
}

void Watcher::WarnOnce(const std::string& what) {
  constexpr std::size_t kMost = 256;  // different ones; a peer must not fill the log
  if (warned_.size() < kMost && warned_.insert(what).second) LogWarning(what);
}

/// Whose sights are whose. A job of the same name that comes while the first still runs is passed
/// over until that has ended; of two that say to be the same rank, the second is.
std::map<JobWatch*, Watcher::Sights> Watcher::Assign(Sights sights) {
  std::map<JobWatch*, Sights> assigned;
  std::map<const JobWatch*, std::vector<char>> taken;
  const std::string* last_name = nullptr;
  JobWatch* job = nullptr;
  for (RankSight& sight : sights) {
    if (!IsBelievable(sight.who)) continue;
    if (job == nullptr || *last_name != sight.who.job) job = JobOf(sight);
    if (job == nullptr) continue;
    last_name = &job->events().run().name;
    std::vector<char>& ranks = taken[job];
    ranks.resize(static_cast<std::size_t>(job->events().run().world));
    const auto at = static_cast<std::size_t>(sight.who.rank);
    const bool twice = at < ranks.size() && ranks[at] != 0;
    if (!twice && job->events().IsOf(sight)) {
      ranks[at] = 1;
      assigned[job].push_back(std::move(sight));
    } else if (!job->events().IsOnHost(sight.who.rank, sight.host)) {
      WarnOnce("job " + sight.who.job + ": rank " + std::to_string(sight.who.rank) + " of host " +
               sight.host + " is passed over: another process has that rank");
    }
  }
  return assigned;
}

void Watcher::Announce(JobWatch& job) {
  const JobEvents& events = job.events();
  const bool all = events.seen() == static_cast<std::size_t>(events.run().world);
  if (!all && events.step() < 0) return;
  const auto [told, first] = announced_.try_emplace(&job, all);
  if (!first && (told->second || !all)) return;
  told->second = all;
  listener_.OnJob(events);
}

void Watcher::Tell(JobWatch& job, const std::vector<Told>& told) {
  for (const Told& each : told) listener_.OnIncident(job.events(), each);
  found_any_ = found_any_ || job.found_any();
  if (const auto stop = job.TakeStop()) {
    const std::string& name = job.events().run().name;
    listener_.OnSelf({.kind = SelfNews::Kind::kRecording,
                      .text = "recording of job " + name + " has stopped: " + *stop,
                      .job = name});
  }
}

/// All that is reckoned with goes by a clock that is never set; what is shown does not.
void Watcher::TellClock() {
  const Clock::Duration now = clock_.WallNow() - clock_.Now();
  const Clock::Duration set = now - std::exchange(offset_, now);
  if (set > -kClockSet && set < kClockSet) return;
  const double seconds = signal::Seconds(set);
  const std::string how = seconds < 0 ? "back by " : "forward by ";
  const std::string slept = seconds < 0 ? "" : ", or it slept";
  listener_.OnSelf({.kind = SelfNews::Kind::kClock,
                    .text = "the clock of this machine was set " + how +
                            fmt::format("{:.1f} s", std::abs(seconds)) + slept +
                            ": the times of incidents and of recordings go on as they were",
                    .seconds = seconds});
}

std::uint64_t Watcher::not_recorded() const {
  std::uint64_t all = not_recorded_;
  for (const auto& job : jobs_) all += job->not_recorded();
  return all;
}

void Watcher::End(JobWatch& job) {
  Tell(job, job.Finish(Received()));
  listener_.OnEnd(job);
  announced_.erase(&job);
}

void Watcher::Look() {
  TellClock();
  std::map<JobWatch*, Sights> assigned = Assign(source_.Look());
  const Clock::Duration now = clock_.Now();
  const signal::Time received = Received();
  const bool judge = now >= next_judgement_;
  for (const auto& job : jobs_) {
    const Sights& sights = assigned[job.get()];
    const auto events = job->Look(sights, now, received);
    listener_.OnLook({job->events(), sights, events, now});
    Announce(*job);
    if (job->events().done()) {
      End(*job);
    } else if (judge) {
      Tell(*job, job->Judge(received));
    }
  }
  std::erase_if(jobs_, [this](const auto& job) {
    const bool done = job->events().done();
    if (done) not_recorded_ += job->not_recorded();
    return done;
  });
  // A machine that slept does not make up for what it missed.
  while (next_judgement_ <= now) next_judgement_ += options_.interval;
  listener_.OnLooked(*this, judge);
  next_look_ = now + std::min(kLookMost, options_.interval / kLooksPerInterval);
}

void Watcher::SetRules(const detect::DetectOptions& options, const std::string& from) {
  auto more = std::move(options_.detect.more);
  options_.detect = options;
  options_.detect.more = std::move(more);
  for (const auto& job : jobs_) job->SetRules(options_.detect);
  listener_.OnSelf({.kind = SelfNews::Kind::kRules, .text = "rules changed: " + from});
}

void Watcher::Finish() {
  for (const auto& job : jobs_) End(*job);
  jobs_.clear();
}

}  // namespace ringward::watch
