#include "detect/detector_set.h"

#include <algorithm>

#include "signal/metric.h"

namespace ringward::detect {
namespace {

constexpr double kDaySeconds = 86'400.0;

/// Seconds of a step as its ranks tell it, median; 0 where none does.
double StepSeconds(const signal::Frame& frame) {
  const signal::Column* const column = frame.Find(signal::Known::kStepTime);
  std::vector<float> known;
  if (column == nullptr) return 0.0;
  std::copy_if(column->values.begin(), column->values.end(), std::back_inserter(known),
               [](float value) { return value > 0.0F; });
  if (known.empty()) return 0.0;
  return static_cast<double>(MedianInPlace(known)) / std::max(frame.steps, 1);
}

}  // namespace

void DetectorSet::Open(const signal::Topology& topology) {
  topology_ = topology;
  members_.clear();
  for (const DetectorKind& kind : DetectorTable()) {
    members_.push_back({&kind, kind.make(topology_, options_)});
  }
}

Surroundings DetectorSet::Around(const DetectorKind& kind) const {
  Surroundings around = pace_;
  around.alarms_per_day = options_.false_alarms_per_day * kind.share;
  return around;
}

void DetectorSet::Pace(const signal::Frame& frame) {
  const double own = StepSeconds(frame);
  const double between = any_frame_ ? signal::Seconds(frame.received - last_received_) : 0.0;
  const double interval = own > 0.0 ? own * std::max(frame.steps, 1) : between;
  if (interval > 0.0) intervals_.Add(static_cast<float>(interval));
  if (intervals_.size() == 0) return;
  const auto typical = std::max(static_cast<double>(intervals_.Median()), 1e-6);
  pace_.step_seconds = typical / std::max(frame.steps, 1);
  pace_.frames_per_day = kDaySeconds / typical;
}

void DetectorSet::OnFrame(const signal::Frame& frame) {
  if (any_frame_ && (frame.step <= last_step_ || frame.received < last_received_)) {
    ++dropped_;
    return;
  }
  if (members_.empty()) {
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
