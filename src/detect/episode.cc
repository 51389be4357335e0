#include "detect/episode.h"

#include <algorithm>

namespace ringward::detect {
namespace {

constexpr double kEndShare = 0.3;  // of the worth: below it an episode is over
constexpr double kWanders = 3.0;   // standard deviations of the wander that a shift must exceed
constexpr double kTrend = 1.0 / 16.0;

}  // namespace

void Episode::Reset() {
  frames_ = 0;
  excess_ = steps_ = lost_ = shift_sum_ = 0.0;
}

bool Episode::Observe(const Value& value, const signal::Frame& frame, const Surroundings& around,
                      double worth, FindingSink& sink, signal::Finding& finding) {
  if (!shift_.Observe(value.x)) return false;
  ++seen_;
  if (shift_.cusum() == 0.0F && !open()) {
    Reset();
    return false;
  }
  if (frames_ == 0) since_step_ = frame.step;
  ++frames_;
  excess_ += value.excess;
  shift_sum_ += static_cast<double>(value.x - shift_.baseline());
  steps_ += value.step_seconds;
  lost_ += value.excess * static_cast<double>(frame.steps);
  trend_ += kTrend * (value.excess / std::max(value.step_seconds, 1e-12) - trend_);
  if (open()) {
    if (trend_ >= kEndShare * worth) return false;
    return Finish(frame.received, finding);
  }
  const double level = shift_.Level(around.frames_per_day, around.alarms_per_day);
  const double effect = excess_ / std::max(steps_, 1e-12);
  const double wander = kWanders * static_cast<double>(shift_.wander());
  const bool large = effect >= worth && shift_sum_ >= wander * static_cast<double>(frames_);
  if (static_cast<double>(shift_.cusum()) <= level || !large) return false;
  told_ = {};
  told_.id = sink.NewId();
  told_.step = frame.step;
  told_.since_step = since_step_;
  told_.at = frame.received;
  told_.p_value = around.alarms_per_day;
  told_.effect = effect;
  told_.lost_seconds = lost_;
  trend_ = effect;
  shift_.SetTrouble(true);
  finding = told_;
  return true;
}

bool Episode::Finish(signal::Time now, signal::Finding& finding) {
  if (!open()) return false;
  finding = told_;
  finding.over = true;
  finding.at = now;
  finding.lost_seconds = lost_;
  told_ = {};
  shift_.SetTrouble(false);
  shift_.Restart();
  Reset();
  return true;
}

}  // namespace ringward::detect
