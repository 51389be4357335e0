#include "ingest/horovod_timeline/rounds.h"

#include <algorithm>
#include <utility>

namespace ringward::ingest {

std::vector<TimelineTime> TimelineRound::Waits(std::size_t world) const {
  std::vector<TimelineTime> known;
  std::copy_if(late.begin(), late.end(), std::back_inserter(known),
               [](TimelineTime each) { return each != kUnknown; });
  if (known.empty()) return std::vector<TimelineTime>(world, transfer);
  const TimelineTime last = *std::max_element(known.begin(), known.end());
  const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
  std::nth_element(known.begin(), middle, known.end());
  std::vector<TimelineTime> waits(world, transfer + last - *middle);
  for (std::size_t rank = 0; rank < std::min(world, late.size()); ++rank) {
    if (late[rank] != kUnknown) waits[rank] = transfer + last - late[rank];
  }
  // Parts in which this rank and that one were the last may add up to more than the round.
  for (TimelineTime& wait : waits) wait = std::clamp(wait, TimelineTime{}, end - begin);
  return waits;
}

void Rounds::RankCame(std::int32_t rank, TimelineTime at) {
  const auto r = static_cast<std::size_t>(rank);
  if (r >= came_.size()) came_.resize(r + 1, TimelineRound::kUnknown);
  if (came_[r] == TimelineRound::kUnknown) ++came_count_;
  came_[r] = at;
}

void Rounds::EndPart(TimelineTime at) {
  if (all_came_ >= TimelineTime{}) transfer_ += std::max(at - all_came_, TimelineTime{});
  all_came_ = TimelineTime{-1};
  if (came_count_ > 1) {
    TimelineTime first = TimelineTime::max();
    for (const TimelineTime came : came_) {
      if (came != TimelineRound::kUnknown) first = std::min(first, came);
    }
    late_.resize(came_.size(), TimelineRound::kUnknown);
    for (std::size_t rank = 0; rank < came_.size(); ++rank) {
      if (came_[rank] != TimelineRound::kUnknown)
        late_[rank] = std::max(late_[rank], came_[rank] - first);
    }
    any_late_ = true;
  }
  std::fill(came_.begin(), came_.end(), TimelineRound::kUnknown);
  came_count_ = 0;
}

void Rounds::Quiet(TimelineTime at) {
  EndPart(at);
  quiet_ = at;
}

void Rounds::End(TimelineTime at, bool quiet) {
  if (!quiet) EndPart(at);
  const TimelineTime end = quiet ? quiet_ : at;
  if (begin_ < TimelineTime{}) begin_ = TimelineTime{};
  if (end > begin_) {
    blind_rounds_ = any_late_ ? 0 : blind_rounds_ + 1;
    ended_.push_back({.number = number_++,
                      .begin = begin_,
                      .end = end,
                      .transfer = std::min(transfer_, end - begin_),
                      .late = any_late_ ? late_ : std::vector<TimelineTime>()});
    begin_ = end;
  }
  transfer_ = {};
  any_late_ = false;
  std::fill(late_.begin(), late_.end(), TimelineRound::kUnknown);
}

void Rounds::Skip(TimelineTime at) {
  EndPart(at);
  transfer_ = {};
  any_late_ = false;
  std::fill(late_.begin(), late_.end(), TimelineRound::kUnknown);
  begin_ = quiet_ = at;
}

std::vector<TimelineRound> Rounds::Take() { return std::exchange(ended_, {}); }

}  // namespace ringward::ingest
