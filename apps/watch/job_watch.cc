#include "watch/job_watch.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "detect/rules.h"

namespace ringward::watch {

JobWatch::JobWatch(JobRun run, const detect::DetectOptions& options)
    : events_(std::move(run)), state_(options), new_rules_(options) {}

std::span<const signal::Event> JobWatch::Look(std::span<const RankSight> sights,
                                              Clock::Duration monotonic, signal::Time received) {
  auto events = events_.Take(sights, monotonic, received);
  std::move(events.begin(), events.end(), std::back_inserter(waiting_));
  return std::span(waiting_).last(events.size());
}

void JobWatch::Write(const recording::Batch& batch) {
  if (!writer_) return;
  // Where the disk is full the writer says so once and stops; the job is watched on.
  const Status written = writer_->Append(batch, events_.metrics());
  not_recorded_ = writer_->dropped().events;
  if (written) return;
  LogWarning("recording: " + written.error().what());
  if (writer_->stopped()) stop_ = written.error().what();
}

std::vector<Told> JobWatch::Judge(signal::Time now) {
  const std::vector<signal::Event> events = std::exchange(waiting_, {});
  if (!events.empty()) last_event_ = static_cast<std::int64_t>(events.back().number);
  std::optional<std::string> rules;
  if (new_rules_) {
    rules = detect::RulesText(*new_rules_);
    state_.detectors.SetRules(*std::exchange(new_rules_, std::nullopt));
  }
  const pipeline::Outcome outcome = pipeline::Step(state_, events, now);
  const recording::Call call{.number = next_call_++,
                             .now = now,
                             .last_event = last_event_,
                             .dropped = events_.TakeDropped(),
                             .rules = std::move(rules)};
  Write({.events = events,
         .calls = std::span(&call, 1),
         .findings = outcome.findings,
         .causes = outcome.causes});
  return Hear(outcome.causes);
}

std::vector<Told> JobWatch::Finish(signal::Time now) {
  std::vector<Told> told = Judge(now);
  // At the time of the last call, as a replay does it.
  const pipeline::Outcome outcome = pipeline::Finish(state_, now);
  Write({.findings = outcome.findings, .causes = outcome.causes});
  for (Told& each : Hear(outcome.causes)) told.push_back(std::move(each));
  if (writer_) {
    const Status closed = writer_->Close();
    if (!closed) LogWarning("recording: " + closed.error().what());
    if (not_recorded_ > 0) {
      LogWarning("the recording of job " + events_.run().name + " lacks the last " +
                 std::to_string(not_recorded_) + " events");
    }
    writer_.reset();
  }
  return told;
}

std::vector<Told> JobWatch::Hear(const std::vector<signal::Cause>& causes) {
  std::vector<Told> told;
  for (const signal::Cause& cause : causes) {
    if (!signal::IsIncident(cause)) continue;
    const auto [at, is_new] = told_.try_emplace(cause.id, cause);
    const signal::Cause before = std::exchange(at->second, cause);
    found_ += is_new ? 1 : 0;
    if (is_new || (before.over && !cause.over)) {
      told.push_back({News::kFound, cause});
    } else if (before.cause != cause.cause || before.culprit_ranks != cause.culprit_ranks ||
               before.culprit_hosts != cause.culprit_hosts) {
      told.push_back({News::kChanged, cause});
    } else if (cause.over && !before.over) {
      told.push_back({News::kOver, cause});
    }
  }
  ForgetOld();
  return told;
}

void JobWatch::ForgetOld() {
  std::size_t over = told_.size() - open_incidents();
  std::erase_if(
      told_, [&](const auto& each) { return over > kOverMost && each.second.over && over-- > 0; });
}

std::size_t JobWatch::open_incidents() const {
  return static_cast<std::size_t>(std::count_if(
      told_.begin(), told_.end(), [](const auto& entry) { return !entry.second.over; }));
}

}  // namespace ringward::watch
