#include "signal/frame_assembler.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"

namespace ringward::signal {
namespace {

constexpr std::uint8_t kHasPart = 1;
constexpr std::uint8_t kHasEnded = 2;
/// Room to add to a step without overflow.
constexpr std::int64_t kStepMax = std::numeric_limits<std::int64_t>::max() / 2;

}  // namespace

FrameAssembler::FrameAssembler(std::size_t world, const MetricTable& metrics,
                               const AssemblerLimits& limits)
    : world_(world),
      metrics_(metrics),
      limits_(limits),
      alive_(world, 1),
      newest_(world, -1),
      opened_(world, 0),
      living_(world) {
  RINGWARD_CHECK(limits.reorder > 0 && limits.reorder < limits.open_max);
}

void FrameAssembler::Add(const Sample& sample) {
  if (!IsRank(sample.rank)) return;
  if (sample.metric >= metrics_.size()) {
    ++counts_.bad_metric;
    return;
  }
  if (sample.received < Time(0) || sample.received - limits_.wait > now_) {
    ++counts_.bad_time;
    return;
  }
  const auto rank = static_cast<std::size_t>(sample.rank);
  Open* frame = Find(rank, sample.step);
  if (frame == nullptr) return;
  if (sample.metric >= frame->columns.size()) frame->columns.resize(metrics_.size());
  auto& column = frame->columns[sample.metric];
  if (column.empty()) column.assign(world_, kMissing);
  float& value = column[rank];
  if (!IsMissing(value)) {
    ++counts_.duplicate;
    return;
  }
  // A peer's NaN may have any bits; it must not pass for a missing report.
  value = IsMissing(sample.value) ? std::numeric_limits<float>::quiet_NaN() : sample.value;
  ++frame->samples;
  ++counts_.accepted;
  if ((frame->marks[rank] & kHasPart) == 0) {
    Join(*frame, rank);
    CloseDone();
  }
}

void FrameAssembler::End(const StepEnd& end) {
  if (!IsRank(end.rank)) return;
  const auto rank = static_cast<std::size_t>(end.rank);
  Open* frame = Find(rank, end.step);
  if (frame == nullptr) return;
  frame->steps = std::max(frame->steps, end.steps);
  frame->expected_slow |= end.expected_slow;
  if ((frame->marks[rank] & kHasPart) == 0) Join(*frame, rank);
  if ((frame->marks[rank] & kHasEnded) == 0) {
    frame->marks[rank] |= kHasEnded;
    if (alive_[rank] != 0) ++frame->ended;
  }
  CloseDone();
}

void FrameAssembler::SetAlive(std::int32_t rank, bool alive) {
  if (rank < 0 || static_cast<std::size_t>(rank) >= world_) return;
  const auto at = static_cast<std::size_t>(rank);
  if ((alive_[at] != 0) == alive) return;
  alive_[at] = alive ? 1 : 0;
  const auto move = [alive](std::size_t& count) { alive ? ++count : --count; };
  move(living_);
  for (Open& frame : open_) {
    if ((frame.marks[at] & kHasEnded) != 0) move(frame.ended);
    if (newest_[at] >= frame.step) move(frame.reached);
  }
  CloseDone();
}

void FrameAssembler::Advance(Time now) {
  now_ = std::max(now_, now);
  const auto waited = [this](const Open& frame) { return now_ - frame.opened >= limits_.wait; };
  while (!open_.empty() && waited(open_.front())) CloseOldest();
  // Those of a minority need not be the oldest to go.
  for (std::size_t i = open_.size(); i-- > 0;) {
    const auto at = open_.begin() + static_cast<std::ptrdiff_t>(i);
    if (waited(*at) && !IsShared(*at)) Drop(at);
  }
  CloseDone();
}

std::optional<Frame> FrameAssembler::Next() {
  if (closed_.empty()) return std::nullopt;
  std::optional<Frame> frame(std::move(closed_.front()));
  closed_.pop_front();
  return frame;
}

bool FrameAssembler::IsRank(std::int32_t rank) {
  if (rank >= 0 && static_cast<std::size_t>(rank) < world_) return true;
  ++counts_.bad_rank;
  return false;
}

FrameAssembler::Open* FrameAssembler::Find(std::size_t rank, std::int64_t step) {
  if (last_ < open_.size() && open_[last_].step == step) return &open_[last_];
  if (step < 0 || step > kStepMax) {
    ++counts_.bad_step;
    return nullptr;
  }
  if (step <= closed_step_) {
    ++counts_.late;
    return nullptr;
  }
  const auto find = [&] {
    return std::lower_bound(
        open_.begin(), open_.end(), step,
        [](const Open& frame, std::int64_t wanted) { return frame.step < wanted; });
  };
  auto at = find();
  if (at == open_.end() || at->step != step) {
    if (opened_[rank] * 2 >= limits_.open_max || !MakeRoom(step)) {
      ++counts_.ahead;
      return nullptr;
    }
    at = find();
    return OpenAt(at, rank, step);
  }
  last_ = static_cast<std::size_t>(at - open_.begin());
  return &*at;
}

// The oldest frame is given up for a newer one, the newest of a minority for an older one.
bool FrameAssembler::MakeRoom(std::int64_t step) {
  if (open_.size() < limits_.open_max) return true;
  if (IsShared(open_.front()) && step > open_.front().step) {
    CloseOldest();
    return true;
  }
  const auto newest = open_.end() - 1;
  if (IsShared(*newest) || step > newest->step) return false;
  Drop(newest);
  return true;
}

FrameAssembler::Open* FrameAssembler::OpenAt(std::vector<Open>::iterator at, std::size_t rank,
                                             std::int64_t step) {
  Open frame{.step = step, .opener = rank, .opened = now_};
  frame.marks.assign(world_, 0);
  frame.columns.resize(metrics_.size());
  for (std::size_t i = 0; i < world_; ++i) {
    if (alive_[i] != 0 && newest_[i] >= step) ++frame.reached;
  }
  ++opened_[rank];
  at = open_.insert(at, std::move(frame));
  last_ = static_cast<std::size_t>(at - open_.begin());
  return &*at;
}

void FrameAssembler::Join(Open& frame, std::size_t rank) {
  frame.marks[rank] |= kHasPart;
  ++frame.reporting;
  if (newest_[rank] >= frame.step) return;
  // A rank that sent a step of the far future has reached every frame from then on: it is not
  // waited for by that rule, which harms nobody else.
  if (alive_[rank] != 0) {
    for (Open& each : open_) {
      if (each.step > newest_[rank] && each.step <= frame.step) ++each.reached;
    }
  }
  newest_[rank] = frame.step;
}

bool FrameAssembler::OldestIsDone() const {
  if (open_.empty() || living_ == 0) return false;
  return open_.front().ended == living_ ||
         (open_.size() > limits_.reorder && open_[limits_.reorder].reached == living_);
}

void FrameAssembler::CloseDone() {
  while (OldestIsDone()) CloseOldest();
}

void FrameAssembler::CloseOldest() {
  Open& frame = open_.front();
  if (IsShared(frame)) {
    closed_.push_back(Release(frame));
    closed_step_ = frame.step;
    frame.samples = 0;
  }
  Drop(open_.begin());
}

void FrameAssembler::Drop(std::vector<Open>::iterator frame) {
  counts_.strays += frame->samples;
  --opened_[frame->opener];
  open_.erase(frame);
}

Frame FrameAssembler::Release(Open& open) {
  Frame frame{.step = open.step, .received = now_, .expected_slow = open.expected_slow};
  // Not more than have passed since the frame before.
  frame.steps =
      static_cast<std::int32_t>(std::clamp<std::int64_t>(open.steps, 1, open.step - closed_step_));
  for (std::size_t metric = 0; metric < open.columns.size(); ++metric) {
    if (open.columns[metric].empty()) continue;
    frame.columns.push_back({static_cast<MetricId>(metric), std::move(open.columns[metric])});
  }
  return frame;
}

}  // namespace ringward::signal
