#include "watch/job_events.h"

#include <algorithm>
#include <utility>

#include "watch/machine_values.h"
#include "watch/step_record.h"

namespace ringward::watch {
namespace {

using signal::Known;

/// A rank of which no step has ended for so long is asked where it stands.
constexpr std::chrono::milliseconds kOverdue{250};
/// Where nothing changes, that is said again so often.
constexpr std::chrono::seconds kSignOfLife{1};
/// Without processor time for so long a process does nothing. The kernel counts in ticks of 10 ms:
/// much less would take a rank on a busy machine for idle.
constexpr std::chrono::seconds kIdleAfter{1};
/// So soon after a rank has left, the others end because of it.
constexpr std::chrono::seconds kConsequence{10};
/// And so long it takes until all are gone that one takes along.
constexpr std::chrono::seconds kSettle{1};
/// So long we wait for a job of which nothing can be seen any more.
constexpr std::chrono::minutes kBlindMost{10};
/// Steps that wait until all hosts were heard; 200 MB.
constexpr std::size_t kHeldStepsMost = std::size_t{1} << 20U;
/// Steps of a rank that is apart: in time for most to follow it, or not at all.
constexpr std::size_t kApartMost = 64;
/// Samples that each step makes.
constexpr std::uint64_t kTimesOfStep = 4;
/// Values of a rank that wait for the end of their step.
constexpr std::size_t kPendingMost = 4096;

double MedianStep(const signal::Frame& frame) {
  const signal::Column* const column = frame.Find(Known::kStepTime);
  if (column == nullptr) return 0.0;
  std::vector<float> known;
  std::copy_if(column->values.begin(), column->values.end(), std::back_inserter(known),
               [](float value) { return value > 0.0F; });
  if (known.empty()) return 0.0;
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::nth_element(known.begin(), middle, known.end());
  return static_cast<double>(*middle) / frame.steps;
}

}  // namespace

JobEvents::JobEvents(JobRun run)
    : run_(std::move(run)), places_(static_cast<std::size_t>(run_.world)) {}

void JobEvents::Push(decltype(signal::Event::what) what) {
  events_.push_back({.number = next_event_++, .received = received_, .what = std::move(what)});
}

/// Learns where ranks run. True where that is elsewhere than was taken for granted: with the first.
bool JobEvents::Place(std::span<const RankSight> sights) {
  bool moved = false;
  for (const RankSight& sight : sights) {
    if (sight.blind || (ranks_.contains(sight.who.rank) && !IsBack(sight))) continue;
    if (hosts_.empty()) {
      for (signal::RankPlace& place : places_) place.host = sight.host;
    }
    const bool is_new = hosts_.insert(sight.host).second;
    if (is_new && !sight.host.empty()) run_.hosts.push_back(sight.host);
    std::string& host = places_[static_cast<std::size_t>(sight.who.rank)].host;
    moved = moved || host != sight.host;
    host = sight.host;
  }
  return moved;
}

void JobEvents::Open() {
  const auto world = static_cast<std::size_t>(run_.world);
  Push(signal::JobOpened{run_.name, signal::Topology(places_)});
  if (frames_) samples_lost_before_ = samples_lost();
  frames_.emplace(world, metrics_);
  frames_->Advance(received_);
  // Only ranks that are seen here are waited for; others may run elsewhere, or record nothing.
  for (std::int32_t rank = 0; rank < run_.world; ++rank) {
    const auto known = ranks_.find(rank);
    const bool alive = known != ranks_.end() && !known->second.gone && !known->second.blind;
    frames_->SetAlive(rank, alive && !trainings_.IsApart(rank));
  }
  step_ = -1;
}

bool JobEvents::IsOf(const RankSight& sight) const {
  if (sight.who.world != run_.world) return false;
  const auto known = ranks_.find(sight.who.rank);
  return known == ranks_.end() || IsBack(sight) ||
         (known->second.pid == sight.who.pid && known->second.start_time == sight.who.start_time &&
          known->second.host == sight.host);
}

bool JobEvents::IsOnHost(std::int32_t rank, const std::string& host) const {
  const auto known = ranks_.find(rank);
  return known == ranks_.end() || known->second.gone || known->second.host == host;
}

/// Whether a rank that was gone lives: started anew, in its old place or elsewhere, or seen again.
bool JobEvents::IsBack(const RankSight& sight) const {
  const auto known = ranks_.find(sight.who.rank);
  return known != ranks_.end() && known->second.gone && !sight.ended && !sight.blind;
}

void JobEvents::TellBack(std::span<const RankSight> sights) {
  signal::SourceBack back;
  for (const RankSight& sight : sights) {
    if (!IsBack(sight)) continue;
    const std::int32_t number = sight.who.rank;
    // That the one before it ended comes first.
    if (std::erase(held_, number) > 0)
      Push(signal::RankEnded{.rank = number, .exit_status = signal::RankEnded::kUnknown});
    ranks_[number] = Rank{.pid = sight.who.pid,
                          .start_time = sight.who.start_time,
                          .host = sight.host,
                          .last_end = sight.looked,
                          .cpu_changed = sight.looked};
    trainings_.Replace(number);
    back.ranks.push_back(number);
  }
  if (!back.ranks.empty()) Push(std::move(back));
}

bool JobEvents::done() const {
  bool any_blind = false;
  for (const auto& [number, rank] : ranks_) {
    if (!rank.gone && !rank.blind) return false;
    any_blind = any_blind || (rank.blind && !rank.gone);
  }
  if (!any_blind) return !ranks_.empty();
  const bool left = left_at_ && monotonic_ - *left_at_ >= kConsequence;
  return left || (blind_since_ && monotonic_ - *blind_since_ >= kBlindMost);
}

std::size_t JobEvents::living() const {
  return static_cast<std::size_t>(std::count_if(
      ranks_.begin(), ranks_.end(), [](const auto& entry) { return !entry.second.gone; }));
}

std::uint64_t JobEvents::samples_lost() const {
  if (!frames_) return samples_lost_before_;
  return samples_lost_before_ + frames_->counts().late + frames_->counts().ahead;
}

std::uint64_t JobEvents::TakeDropped() {
  const std::uint64_t all = records_lost() + samples_lost();
  return all - std::exchange(dropped_told_, all);
}

void JobEvents::Meet(const RankSight& sight) {
  records_lost_ += sight.batch.overwritten + sight.batch.malformed;
  auto [entry, is_new] = ranks_.try_emplace(
      sight.who.rank,
      Rank{.pid = sight.who.pid, .start_time = sight.who.start_time, .host = sight.host});
  Rank& rank = entry->second;
  if (is_new) {
    rank.cpu_changed = rank.last_end = sight.looked;
    trainings_.SetThere(sight.who.rank, true);
    frames_->SetAlive(sight.who.rank, true);
  }
  rank.looked = std::max(rank.looked, sight.looked - sight.unsure);
  for (const telemetry::StepRecord& record : sight.batch.steps)
    rank.last_end = std::max(rank.last_end, Clock::Duration(record.end_ns));
  if (rank.cpu_ticks != sight.cpu_ticks) rank.cpu_changed = sight.looked;
  rank.cpu_ticks = sight.cpu_ticks;
}

void JobEvents::TakeMetrics(const RankSight& sight) {
  Rank& rank = ranks_.at(sight.who.rank);
  std::vector<Metric>& pending = rank.pending;
  // An agent that was started anew tells all that the rings hold.
  std::optional<std::uint64_t> told;
  for (const telemetry::StepRecord& record : sight.batch.steps) {
    if (Clock::Duration(record.end_ns) <= rank.taken_end)
      told = std::max(told.value_or(0), record.step);
  }
  for (const telemetry::MetricRecord& record : sight.batch.metrics) {
    const auto known = KnownOf(record.metric);
    if (told && record.step <= *told) continue;
    if (known && pending.size() < kPendingMost)
      pending.push_back({record.step, *known, record.sum, record.count});
  }
}

void JobEvents::TakeMachine(const RankSight& sight) {
  Rank& rank = ranks_.at(sight.who.rank);
  for (const MachineValue& value : sight.machine) {
    Machine& machine = rank.machine[value.metric];
    machine.sum += value.value;
    machine.last = value.value;
    ++machine.count;
  }
}

/// What the machine did until now, with the newest step that has ended: rates as their means.
void JobEvents::AddMachine(std::int32_t rank, std::int64_t step) {
  // A job that is all on one machine has no network: what that sends again is not its.
  const bool all_here = hosts_.size() == 1 && ranks_.size() == static_cast<std::size_t>(run_.world);
  for (const auto& [metric, value] : std::exchange(ranks_.at(rank).machine, {})) {
    if (all_here && metric == Known::kRetransmits) continue;
    const bool mean = !IsLevel(metric);
    AddSample(rank, metric, step, mean ? value.sum / value.count : value.last);
  }
}

void JobEvents::AddSample(std::int32_t rank, Known metric, std::int64_t step, double value) {
  frames_->Add({.rank = rank,
                .metric = signal::IdOf(metric),
                .step = step,
                .received = received_,
                .value = static_cast<float>(value)});
}

/// Of a rank that is apart: it may be of another training that most have yet to begin.
void JobEvents::Hold(const Ended& ended) {
  std::deque<Ended>& held = apart_[ended.rank];
  if (held.size() >= kApartMost) {
    Lose(held.front());
    held.pop_front();
  }
  held.push_back(ended);
}

/// A step that counts nowhere.
void JobEvents::Lose(const Ended& ended) {
  samples_lost_before_ += kTimesOfStep;
  std::erase_if(ranks_.at(ended.rank).pending,
                [&](const Metric& metric) { return metric.step <= ended.record.step; });
}

void JobEvents::TakeStep(const Ended& ended) {
  const bool was_apart = trainings_.IsApart(ended.rank);
  const Trainings::Answer answer = trainings_.Take(ended.rank, ended.record.step, step_);
  if (answer == Trainings::Answer::kPassed) return Lose(ended);
  if (answer == Trainings::Answer::kApart) {
    if (!was_apart) frames_->SetAlive(ended.rank, false);
    return Hold(ended);
  }
  if (answer == Trainings::Answer::kBegins) {
    Open();
    for (const auto& [rank, held] : std::exchange(apart_, {})) {
      for (const Ended& step : held) CountStep(step);
    }
  } else if (was_apart) {
    for (const Ended& step : std::exchange(apart_[ended.rank], {})) Lose(step);
    apart_.erase(ended.rank);
    frames_->SetAlive(ended.rank, true);
  }
  CountStep(ended);
}

void JobEvents::CountStep(const Ended& ended) {
  using telemetry::Phase;
  const telemetry::StepRecord& record = ended.record;
  Rank& rank = ranks_.at(ended.rank);
  // Ranks need not sum the same number of steps: they are compared by their means, and what a frame
  // sums is put in where it is closed.
  const double per_step = 1.0 / std::max(record.steps, 1U);
  const auto step = static_cast<std::int64_t>(record.step);
  const auto add = [&](Known metric, double value) { AddSample(ended.rank, metric, step, value); };
  add(Known::kStepTime, per_step * 1e-9 * static_cast<double>(record.total_ns));
  add(Known::kDataTime, per_step * SelfSeconds(record, {Phase::kData}));
  add(Known::kComputeTime, per_step * SelfSeconds(record, {Phase::kForward, Phase::kBackward,
                                                           Phase::kOptimizer, Phase::kOther}));
  add(Known::kWaitTime, per_step * WaitSeconds(record));
  std::map<Known, Metric> values;
  std::erase_if(rank.pending, [&](const Metric& metric) {
    if (metric.step > record.step) return false;
    Metric& value = values[metric.known];
    value.sum += metric.sum;
    value.count += metric.count;
    return true;
  });
  for (const auto& [known, value] : values) {
    const double parts = known == Known::kSamples ? record.steps : static_cast<double>(value.count);
    add(known, value.sum / std::max(parts, 1.0));
  }
  if (ended.newest) AddMachine(ended.rank, step);
  frames_->End({.rank = ended.rank,
                .step = step,
                .steps = static_cast<std::int32_t>(std::min(record.steps, 1U << 20U)),
                .expected_slow = (record.flags & telemetry::kSlowFlag) != 0});
}

/// Up to when every rank that is in sight has been looked at: nothing older is still to come.
Clock::Duration JobEvents::Horizon() const {
  Clock::Duration horizon = Clock::Duration::max();
  for (const auto& [number, rank] : ranks_) {
    if (!rank.gone && !rank.blind) horizon = std::min(horizon, rank.looked);
  }
  return horizon;
}

/// In the order in which steps ended, so that no rank runs ahead of the others, as its host may be
/// heard before theirs.
void JobEvents::TakeSteps(std::span<const RankSight> sights) {
  for (const RankSight& sight : sights) {
    if (sight.blind) continue;
    Clock::Duration& taken = ranks_.at(sight.who.rank).taken_end;
    for (const telemetry::StepRecord& record : sight.batch.steps) {
      const Clock::Duration end(record.end_ns);
      if (end <= taken) continue;
      taken = end;
      steps_.push_back({sight.who.rank, record, &record == &sight.batch.steps.back()});
    }
  }
  std::stable_sort(steps_.begin(), steps_.end(), [](const Ended& a, const Ended& b) {
    return a.record.end_ns < b.record.end_ns;
  });
  FeedSteps();
}

void JobEvents::FeedSteps() {
  const Clock::Duration horizon = Horizon();
  const std::size_t surplus = steps_.size() - std::min(steps_.size(), kHeldStepsMost);
  std::size_t fed = 0;
  while (fed < steps_.size() &&
         (fed < surplus || Clock::Duration(steps_[fed].record.end_ns) <= horizon)) {
    TakeStep(steps_[fed++]);
    TakeFrames();
  }
  steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(fed));
}

void JobEvents::TakeFrames() {
  while (auto frame = frames_->Next()) {
    for (signal::Column& column : frame->columns) {
      if (!signal::IsSummed(static_cast<Known>(column.metric))) continue;
      for (float& value : column.values) {
        if (!signal::IsMissing(value)) value *= static_cast<float>(frame->steps);
      }
    }
    step_ = frame->step;
    step_seconds_ = MedianStep(*frame);
    Push(*std::move(frame));
  }
}

void JobEvents::TakeProgress(const RankSight& sight) {
  Rank& rank = ranks_.at(sight.who.rank);
  // By when it was looked at: what another host has not told yet is no lack of progress.
  const bool overdue = sight.looked - rank.last_end >= kOverdue;
  if (step_ < 0 || (!overdue && rank.settled)) return;
  const bool sleeps =
      !sight.state.inside_collective && sight.looked - rank.cpu_changed >= kIdleAfter;
  const bool idle = overdue && (sight.stopped || sleeps);
  const signal::Progress now{
      .rank = sight.who.rank,
      .step = sight.state.any_step ? static_cast<std::int64_t>(sight.state.step) : -1,
      .phase = PhaseOf(sight.state),
      .sequence = sight.state.collectives_entered,
      .in_collective = sight.state.inside_collective,
      .idle = idle};
  const bool same = rank.told && rank.told->step == now.step && rank.told->phase == now.phase &&
                    rank.told->sequence == now.sequence &&
                    rank.told->in_collective == now.in_collective && rank.told->idle == now.idle;
  if (same && overdue && sight.looked - rank.told_at < kSignOfLife) return;
  rank.told = now;
  rank.told_at = sight.looked;
  rank.settled = !overdue;
  Push(now);
}

void JobEvents::TakeLog(const RankSight& sight) {
  for (signal::LogLine line : sight.said) {
    std::erase_if(line.ranks, [this](std::int32_t rank) { return rank < 0 || rank >= run_.world; });
    Push(std::move(line));
  }
}

void JobEvents::EndRank(const RankSight& sight) {
  Rank& rank = ranks_.at(sight.who.rank);
  if (rank.gone) return;
  rank.gone = true;
  trainings_.SetThere(sight.who.rank, false);
  orderly_ = orderly_ && sight.state.closed;
  frames_->SetAlive(sight.who.rank, false);
  TakeFrames();
  if (sight.state.closed) {
    left_at_ = sight.looked;
    Push(signal::RankEnded{.rank = sight.who.rank});
  } else {
    if (held_.empty()) held_since_ = sight.looked + sight.unsure;
    held_.push_back(sight.who.rank);
  }
}

/// All that still live were looked at late enough to know whether they went with those held.
bool JobEvents::SettledAll() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [this](const auto& entry) {
    const Rank& rank = entry.second;
    return rank.gone || rank.blind || rank.looked - held_since_ >= kSettle;
  });
}

/// Processes that are gone without a word, told together once it is clear who went with whom: a
/// launcher ends all others within a moment, and who was first cannot be seen from outside, least
/// of all across hosts, whose clocks are known to some accuracy only.
void JobEvents::TellHeld() {
  if (held_.empty()) return;
  if (!done() && (monotonic_ - held_since_ < kSettle || !SettledAll())) return;
  // When one has left, with whatever success, its launcher ends the others: that is not their
  // doing.
  const bool follows = left_at_ && held_since_ - *left_at_ < kConsequence;
  for (const std::int32_t rank : std::exchange(held_, {})) {
    Push(signal::RankEnded{.rank = rank, .exit_status = follows ? 0 : signal::RankEnded::kUnknown});
  }
}

void JobEvents::TakeEnds(std::span<const RankSight> sights) {
  for (const RankSight& sight : sights) {
    if (sight.ended && !sight.blind) EndRank(sight);
  }
  FeedSteps();
  TellHeld();
  const bool all_seen = std::none_of(ranks_.begin(), ranks_.end(), [](const auto& entry) {
    return entry.second.blind && !entry.second.gone;
  });
  if (done() && orderly_ && all_seen) Push(signal::JobClosed{});
}

/// Ranks that the source shows no more, though it has not shown their end.
void JobEvents::FindLost(std::span<const RankSight> sights) {
  std::vector<char> shown(places_.size(), 0);
  for (const RankSight& sight : sights) shown[static_cast<std::size_t>(sight.who.rank)] = 1;
  for (auto& [number, rank] : ranks_) {
    if (shown[static_cast<std::size_t>(number)] != 0 || rank.gone) continue;
    rank.gone = true;
    trainings_.SetThere(number, false);
    orderly_ = false;
    if (rank.blind) continue;  // that was told
    frames_->SetAlive(number, false);
    TakeFrames();
    Push(signal::SourceLost{{number}});
  }
}

/// Ranks whose host is not heard any more, or again. Nothing is waited for from the blind side.
void JobEvents::TakeBlind(std::span<const RankSight> sights) {
  signal::SourceLost lost;
  signal::SourceBack back;
  for (const RankSight& sight : sights) {
    const auto known = ranks_.find(sight.who.rank);
    if (known == ranks_.end() || known->second.gone || known->second.blind == sight.blind) continue;
    known->second.blind = sight.blind;
    trainings_.SetThere(sight.who.rank, !sight.blind);
    frames_->SetAlive(sight.who.rank, !sight.blind && !trainings_.IsApart(sight.who.rank));
    (sight.blind ? lost.ranks : back.ranks).push_back(sight.who.rank);
  }
  TakeFrames();
  const bool none_seen = std::all_of(ranks_.begin(), ranks_.end(), [](const auto& entry) {
    return entry.second.gone || entry.second.blind;
  });
  if (!none_seen) blind_since_.reset();
  if (none_seen && !blind_since_) blind_since_ = monotonic_;
  if (!lost.ranks.empty()) Push(std::move(lost));
  if (!back.ranks.empty()) Push(std::move(back));
}

std::vector<signal::Event> JobEvents::Take(std::span<const RankSight> sights,
                                           Clock::Duration monotonic, signal::Time received) {
  monotonic_ = monotonic;
  received_ = received;
  const bool moved = Place(sights);
  if (!frames_ || moved) Open();
  frames_->Advance(received);
  TakeBlind(sights);
  TellBack(sights);
  for (const RankSight& sight : sights) {
    if (sight.blind) continue;
    Meet(sight);
    TakeMetrics(sight);
    TakeMachine(sight);
  }
  TakeSteps(sights);
  TakeFrames();
  for (const RankSight& sight : sights) {
    if (!sight.ended && !sight.blind) TakeProgress(sight);
  }
  for (const RankSight& sight : sights) TakeLog(sight);
  FindLost(sights);
  TakeEnds(sights);
  return std::exchange(events_, {});
}

}  // namespace ringward::watch
