#include "watch/http/job_view.h"

#include <algorithm>
#include <variant>

#include "watch/step_record.h"

namespace ringward::watch {
namespace {

using signal::Known;

/// So long without progress a rank is called silent.
constexpr std::chrono::seconds kSilentAfter{5};
/// Columns kept of a job, and the bytes they may take: a minute or more of quarter seconds.
constexpr std::size_t kColumnsMost = 512;
constexpr std::size_t kColumnBytesMost = std::size_t{64} << 20U;
/// Incidents shown of a job.
constexpr std::size_t kIncidentsMost = 256;

/// What a metric of the pages is the sum of.
struct Part {
  RankMetric metric;
  Known known;
  bool summed;  ///< the frame holds its sum over the frame's steps, else their mean
};
constexpr Part kParts[] = {{RankMetric::kSelf, Known::kComputeTime, true},
                           {RankMetric::kSelf, Known::kDataTime, true},
                           {RankMetric::kData, Known::kDataTime, true},
                           {RankMetric::kWait, Known::kWaitTime, true},
                           {RankMetric::kLoss, Known::kLoss, false},
                           {RankMetric::kMemory, Known::kMemory, false},
                           {RankMetric::kGpuBusy, Known::kGpuBusy, false},
                           {RankMetric::kGpuMemory, Known::kGpuMemory, false},
                           {RankMetric::kGpuTemperature, Known::kGpuTemperature, false},
                           {RankMetric::kGpuPower, Known::kGpuPower, false},
                           {RankMetric::kGpuClock, Known::kGpuClock, false},
                           {RankMetric::kGpuHeldBack, Known::kGpuHeldBack, false},
                           {RankMetric::kGpuErrors, Known::kGpuErrors, false}};

bool IsShownBefore(const signal::Cause* a, const signal::Cause* b) {
  return a->over == b->over ? a->id > b->id : !a->over;
}

}  // namespace

JobView::JobView(std::int32_t world)
    : ranks_(static_cast<std::size_t>(world)), changed_(static_cast<std::size_t>(world)) {}

void JobView::TakeSight(const RankSight& sight, Clock::Duration now) {
  const auto at = static_cast<std::size_t>(sight.who.rank);
  RankStatus& rank = ranks_[at];
  if (sight.blind) {
    rank.state = RankState::kLost;
    return;
  }
  RankStatus seen{.state = sight.ended ? RankState::kEnded : RankState::kLiving,
                  .phase = PhaseOf(sight.state),
                  .in_collective = sight.state.inside_collective,
                  .step = sight.state.any_step ? static_cast<std::int64_t>(sight.state.step) : -1,
                  .collectives = sight.state.collectives_entered};
  // That it was called silent is no difference in what it does.
  RankStatus before = rank;
  if (before.state == RankState::kSilent) before.state = RankState::kLiving;
  if (seen != before) changed_[at] = now;
  if (!sight.ended && now - changed_[at] >= kSilentAfter) seen.state = RankState::kSilent;
  rank = seen;
}

void JobView::Add(const signal::Frame& frame, Sums& sums) const {
  if (sums.first_step < 0) sums.first_step = frame.step - frame.steps + 1;
  sums.last_step = frame.step;
  const auto frame_steps = static_cast<float>(frame.steps);
  const Part* before = nullptr;
  for (const Part& part : kParts) {
    // The second part of a metric adds time to the same steps.
    const bool counts = before == nullptr || before->metric != part.metric;
    before = &part;
    const signal::Column* const column = frame.Find(part.known);
    if (column == nullptr) continue;
    auto& total = sums.total[static_cast<std::size_t>(part.metric)];
    auto& steps = sums.steps[static_cast<std::size_t>(part.metric)];
    total.resize(ranks_.size());
    steps.resize(ranks_.size());
    const std::size_t count = std::min(ranks_.size(), column->values.size());
    for (std::size_t rank = 0; rank < count; ++rank) {
      const float value = column->values[rank];
      if (signal::IsMissing(value)) continue;
      total[rank] += part.summed ? value : value * frame_steps;
      if (counts) steps[rank] += frame_steps;
    }
  }
}

void JobView::Keep(const Sums& sums) {
  if (sums.first_step < 0) return;
  auto column = std::make_shared<RankColumn>();
  column->first_step = sums.first_step;
  column->last_step = sums.last_step;
  for (std::size_t m = 0; m < kRankMetrics; ++m) {
    std::vector<float>& values = column->values[m];
    values.resize(sums.total[m].size());
    for (std::size_t rank = 0; rank < values.size(); ++rank) {
      const float steps = sums.steps[m][rank];
      values[rank] = steps > 0.0F ? sums.total[m][rank] / steps : signal::kMissing;
    }
  }
  column_bytes_ += column->bytes();
  columns_.push_back(std::move(column));
  while (columns_.size() > kColumnsMost ||
         (columns_.size() > 1 && column_bytes_ > kColumnBytesMost)) {
    column_bytes_ -= columns_.front()->bytes();
    columns_.pop_front();
  }
}

void JobView::TakeEvent(const signal::Event& event, Sums& sums) {
  if (const auto* frame = std::get_if<signal::Frame>(&event.what)) {
    steps_ += static_cast<std::uint64_t>(frame->steps);
    Add(*frame, sums);
  } else if (const auto* lost = std::get_if<signal::SourceLost>(&event.what)) {
    for (const std::int32_t rank : lost->ranks) {
      ranks_[static_cast<std::size_t>(rank)].state = RankState::kLost;
    }
  } else if (std::holds_alternative<signal::JobOpened>(event.what)) {
    // Its steps count from an earlier one again: another training of the same processes.
    Keep(sums);
    sums = {};
    columns_.clear();
    column_bytes_ = 0;
  }
}

void JobView::Take(const JobLook& look) {
  for (const RankSight& sight : look.sights) TakeSight(sight, look.monotonic);
  Sums sums;
  for (const signal::Event& event : look.events) TakeEvent(event, sums);
  Keep(sums);
}

std::shared_ptr<JobSnapshot> JobView::Fill(const JobWatch& job) const {
  const JobEvents& events = job.events();
  auto shown = std::make_shared<JobSnapshot>();
  shown->run = events.run();
  shown->ranks = ranks_;
  shown->seen = events.seen();
  shown->step = events.step();
  shown->step_seconds = events.step_seconds();
  shown->steps = steps_;
  shown->records_lost = events.records_lost();
  shown->samples_lost = events.samples_lost();
  shown->columns.assign(columns_.begin(), columns_.end());
  shown->found = job.found();
  std::vector<const signal::Cause*> order;
  for (const auto& [id, cause] : job.incidents()) {
    order.push_back(&cause);
    if (!cause.over) ++shown->open[cause.cause];
  }
  std::sort(order.begin(), order.end(), IsShownBefore);
  order.resize(std::min(order.size(), kIncidentsMost));
  for (const signal::Cause* const cause : order) shown->incidents.push_back(*cause);
  return shown;
}

std::shared_ptr<const JobSnapshot> JobView::Show(const JobWatch& job) const {
  auto shown = Fill(job);
  for (const RankStatus& rank : ranks_) ++shown->states[static_cast<std::size_t>(rank.state)];
  return shown;
}

std::shared_ptr<const JobSnapshot> JobView::ShowEnded(const JobWatch& job) const {
  auto shown = Fill(job);
  shown->ended = true;
  for (RankStatus& rank : shown->ranks) {
    if (rank.state == RankState::kLiving || rank.state == RankState::kSilent)
      rank.state = RankState::kEnded;
    ++shown->states[static_cast<std::size_t>(rank.state)];
  }
  return shown;
}

}  // namespace ringward::watch
