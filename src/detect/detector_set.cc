#include "detect/detector_set.h"

#include <algorithm>
#include <utility>

#include "detect/step_times.h"
#include "signal/metric.h"

namespace ringward::detect {
namespace {

constexpr double kDaySeconds = 86'400.0;
// What no job has, and what sums and differences in 64 bits would not hold.
constexpr std::int64_t kStepMost = std::int64_t{1} << 53;
constexpr std::int32_t kStepsMost = 1 << 20;
constexpr signal::Time kTimeMost{std::int64_t{1} << 62};

bool IsPossible(const signal::Frame& frame) {
  return frame.step > -kStepMost && frame.step < kStepMost && frame.steps > 0 &&
         frame.steps <= kStepsMost && frame.received >= signal::Time{} &&
         frame.received <= kTimeMost;
}

/// Seconds of a step as its ranks tell it, median; 0 where none does.
double StepSeconds(const signal::Frame& frame) {
  const signal::Column* const column = frame.Find(signal::Known::kStepTime);
  std::vector<float> known;
  if (column == nullptr) return 0.0;
  std::copy_if(column->values.begin(), column->values.end(), std::back_inserter(known),
               [](float value) { return value > 0.0F && value < kSecondsMost; });
  if (known.empty()) return 0.0;
  return static_cast<double>(MedianInPlace(known)) / frame.steps;
}

}  // namespace

void DetectorSet::Open(const signal::Topology& topology) {
  // What the job before left open ends with it; steps may count from 0 again.
  Finish(last_received_);
  any_frame_ = false;
  intervals_.Clear();
  topology_ = topology;
  members_.clear();
  for (const DetectorKind& kind : DetectorTable()) Make(kind);
  for (const auto& kind : options_.more) Make(*kind);
}

void DetectorSet::Make(const DetectorKind& kind) {
  members_.push_back({&kind, kind.make(topology_, options_)});
}

void DetectorSet::SetRules(const DetectOptions& options) {
  auto more = std::move(options_.more);  // kinds that members point to
  options_ = options;
  options_.more = std::move(more);
  for (const Member& member : members_) member.detector->OnRules(options_, last_received_, sink_);
}

Surroundings DetectorSet::Around(const DetectorKind& kind) const {
  Surroundings around = pace_;
  around.alarms_per_day = options_.false_alarms_per_day * kind.share;
  return around;
}

void DetectorSet::Pace(const signal::Frame& frame) {
  const double own = StepSeconds(frame);
  const double between = any_frame_ ? signal::Seconds(frame.received - last_received_) : 0.0;
  const double interval = own > 0.0 ? own * frame.steps : between;
  if (interval > 0.0) intervals_.Add(static_cast<float>(interval));
  if (intervals_.size() == 0) return;
  const auto typical = std::max(static_cast<double>(intervals_.Median()), 1e-6);
  pace_.step_seconds = typical / frame.steps;
  pace_.frames_per_day = kDaySeconds / typical;
}

void DetectorSet::OnFrame(const signal::Frame& frame) {
  const bool back = any_frame_ && (frame.step <= last_step_ || frame.received < last_received_);
  if (back || !IsPossible(frame)) {
    ++dropped_;
    return;
  }
  if (topology_.world() == 0) {
    std::size_t world = 0;
    for (const signal::Column& column : frame.columns)
      world = std::max(world, column.values.size());
    Open(signal::Topology(world));
  }
  Pace(frame);
  any_frame_ = true;
  last_step_ = frame.step;
  last_received_ = frame.received;
  for (const Member& member : members_) {
    member.detector->OnFrame(frame, Around(*member.kind), sink_);
  }
}

void DetectorSet::OnEvent(const signal::Event& event) {
  if (const auto* frame = std::get_if<signal::Frame>(&event.what)) return OnFrame(*frame);
  if (const auto* opened = std::get_if<signal::JobOpened>(&event.what))
    return Open(opened->topology);
  for (const Member& member : members_) {
    member.detector->OnEvent(event, Around(*member.kind), sink_);
  }
}

void DetectorSet::OnTime(signal::Time now) {
  for (const Member& member : members_) member.detector->OnTime(now, Around(*member.kind), sink_);
}

void DetectorSet::Finish(signal::Time now) {
  for (const Member& member : members_) member.detector->Finish(now, sink_);
}

}  // namespace ringward::detect
