#include "watch/tails/timeline_ranks.h"

#include <algorithm>

namespace ringward::watch {
namespace {

using ingest::HorovodTimeline;

std::uint64_t Nanoseconds(ingest::TimelineTime time) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count());
}

telemetry::StepRecord RecordOf(const ingest::TimelineRound& round, ingest::TimelineTime wait,
                               Clock::Duration ended) {
  telemetry::StepRecord record{.end_ns = ended.count(),
                               .step = static_cast<std::uint64_t>(round.number),
                               .steps = 1,
                               // The first holds the start of the job, too.
                               .flags = round.number == 0 ? telemetry::kSlowFlag : 0U,
                               .total_ns = Nanoseconds(round.end - round.begin)};
  record.phase_ns[static_cast<std::size_t>(telemetry::Phase::kCommunicate)] = Nanoseconds(wait);
  record.phase_ns[static_cast<std::size_t>(telemetry::Phase::kOther)] =
      record.total_ns - Nanoseconds(wait);
  return record;
}

telemetry::SegmentState StateOf(const HorovodTimeline& timeline, HorovodTimeline::Place place) {
  const bool inside = place == HorovodTimeline::Place::kInside;
  const auto round = static_cast<std::uint64_t>(timeline.round());
  return {.phase = inside ? telemetry::Phase::kCommunicate : telemetry::Phase::kOther,
          .in_step = true,
          .any_step = round > 0,
          .step = round,
          .inside_collective = inside,
          .collectives_entered = round + (inside ? 1 : 0)};
}

}  // namespace

void TimelineRanks::Restart() {
  offset_.reset();
  transfers_.clear();
}

ingest::TimelineTime TimelineRanks::Steady(ingest::TimelineTime transfer) {
  transfers_.push_back(transfer);
  if (transfers_.size() > kSteady) transfers_.pop_front();
  return *std::min_element(transfers_.begin(), transfers_.end());
}

std::vector<RankSight> TimelineRanks::Sights(HorovodTimeline& timeline, std::size_t world,
                                             Clock::Duration now) {
  // The record that was read soonest after it was written says best how the clocks stand.
  const Clock::Duration offset = now - timeline.newest();
  offset_ = std::min(offset_.value_or(offset), offset);
  const auto places = timeline.Standing();
  std::vector<RankSight> sights(world);
  for (std::size_t rank = 0; rank < world; ++rank) {
    const auto place = rank < places.size() ? places[rank] : HorovodTimeline::Place::kUnknown;
    sights[rank].state = StateOf(timeline, place);
    sights[rank].looked = now;
  }
  for (ingest::TimelineRound& round : timeline.Take()) {
    round.transfer = Steady(round.transfer);
    const auto waits = round.Waits(world);
    for (std::size_t rank = 0; rank < world; ++rank)
      sights[rank].batch.steps.push_back(RecordOf(round, waits[rank], *offset_ + round.end));
  }
  return sights;
}

}  // namespace ringward::watch
