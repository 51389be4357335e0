#include "watch/watcher.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace ringward::watch {
namespace {

constexpr std::chrono::milliseconds kLookMost{250};
constexpr int kLooksPerInterval = 4;
constexpr std::int32_t kWorldMost = 1 << 17;  // more is a segment's claim that nobody believes

}  // namespace

Watcher::Watcher(WatcherOptions options, Source& source, const Clock& clock, Listener& listener)
    : options_(std::move(options)),
      source_(source),
      clock_(clock),
      listener_(listener),
      wall_offset_(clock.WallNow() - clock.Now()),
      next_judgement_(clock.Now() + options_.interval) {}

signal::Time Watcher::Received() const { return clock_.Now() + wall_offset_; }

JobWatch& Watcher::Begin(const RankSight& sight) {
  JobRun run{sight.who.job, sight.who.world, source_.host()};
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

/// Whose sights are whose. A job of the same name that comes while the first still runs is passed
/// over until that has ended.
std::map<JobWatch*, Watcher::Sights> Watcher::Assign(Sights sights) {
  std::map<JobWatch*, Sights> assigned;
  for (RankSight& sight : sights) {
    if (sight.who.world < 1 || sight.who.world > kWorldMost || sight.who.rank < 0 ||
        sight.who.rank >= sight.who.world)
      continue;
    const auto job = std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& known) {
      return known->events().run().name == sight.who.job;
    });
    if (job == jobs_.end() && sight.ended) continue;  // nothing to watch any more
    JobWatch& watch = job == jobs_.end() ? Begin(sight) : **job;
    Sights& mine = assigned[&watch];
    const bool twice = std::any_of(mine.begin(), mine.end(), [&](const RankSight& other) {
      return other.who.rank == sight.who.rank;
    });
    if (watch.events().IsOf(sight) && !twice) mine.push_back(std::move(sight));
  }
  return assigned;
}

void Watcher::Announce(JobWatch& job) {
  const JobEvents& events = job.events();
  const bool all = events.seen() == static_cast<std::size_t>(events.run().world);
  if (!all && events.step() < 0) return;
  if (std::find(announced_.begin(), announced_.end(), &job) != announced_.end()) return;
  announced_.push_back(&job);
  listener_.OnJob(events);
}

void Watcher::Tell(JobWatch& job, const std::vector<Told>& told) {
  for (const Told& each : told) listener_.OnIncident(job.events(), each);
  found_any_ = found_any_ || job.found_any();
}

void Watcher::End(JobWatch& job) {
  Tell(job, job.Finish(Received()));
  listener_.OnEnd(job);
  std::erase(announced_, &job);
}

void Watcher::Look() {
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
  std::erase_if(jobs_, [](const auto& job) { return job->events().done(); });
  // A machine that slept does not make up for what it missed.
  while (next_judgement_ <= now) next_judgement_ += options_.interval;
  listener_.OnLooked(*this, judge);
  next_look_ = now + std::min(kLookMost, options_.interval / kLooksPerInterval);
}

void Watcher::SetRules(const detect::DetectOptions& options) {
  auto more = std::move(options_.detect.more);
  options_.detect = options;
  options_.detect.more = std::move(more);
  for (const auto& job : jobs_) job->SetRules(options_.detect);
}

void Watcher::Finish() {
  for (const auto& job : jobs_) End(*job);
  jobs_.clear();
}

}  // namespace ringward::watch
