#include "detect/stage_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "signal/metric.h"

namespace ringward::detect {
namespace {

constexpr float kStageFloor = 0.05F;  // of a step
constexpr double kStageTrend = 1.0 / 16.0;
constexpr double kStageEnd = 0.3;  // of the worth

/// All stages are compared with one another.
signal::Topology::Groups OneGroup(std::size_t members) {
  std::vector<std::int32_t> all(members);
  for (std::size_t i = 0; i < members; ++i) all[i] = static_cast<std::int32_t>(i);
  return {all};
}

}  // namespace

StageTimeDetector::StageTimeDetector(const signal::Topology& topology, const DetectOptions& options)
    : options_(options),
      world_(topology.world()),
      topology_(topology),
      stages_(topology.ByStage()),
      shift_(stages_.size(), OneGroup(stages_.size()), RankShift::Options{}),
      x_(stages_.size()),
      accounts_(stages_.size()) {}

bool StageTimeDetector::Applies() const {
  return stages_.size() > 1 && std::all_of(stages_.begin(), stages_.end(),
                                           [](const auto& stage) { return stage.size() > 1; });
}

void StageTimeDetector::Close(std::size_t stage, signal::Time now, FindingSink& sink) {
  Account& account = accounts_[stage];
  sink.Close(account.told, now);
  account = {};
  shift_.SetTrouble(stage, false);
  shift_.Restart(stage);
}

void StageTimeDetector::ObserveStage(std::size_t stage, const signal::Frame& frame,
                                     const Surroundings& around, FindingSink& sink) {
  Account& account = accounts_[stage];
  const bool open = account.told.id != 0;
  if (shift_.cusum(stage) == 0.0F && !open) {
    account = {};
    return;
  }
  if (account.frames == 0.0) account.since_step = frame.step;
  const double excess = static_cast<double>(std::exp(x_[stage]) - std::exp(shift_.expected(stage)));
  const double step = std::max(static_cast<double>(times_.typical_step()), 1e-9);
  account.frames += 1.0;
  account.excess += excess;
  account.steps += step;
  account.trend += kStageTrend * (excess / step - account.trend);
  if (open) {
    if (account.trend < kStageEnd * options_.worth) Close(stage, frame.received, sink);
    return;
  }
  const double level = shift_.Level(around.frames_per_day, around.alarms_per_day);
  const double effect = account.excess / std::max(account.steps, 1e-12);
  if (static_cast<double>(shift_.cusum(stage)) <= level || effect < options_.worth) return;
  signal::Finding finding =
      sink.New(signal::FindingKind::kStageSlow, "stage-time", frame.step, frame.received);
  finding.ranks = stages_[stage];
  finding.stage = topology_.place(static_cast<std::size_t>(stages_[stage].front())).stage;
  finding.phase = signal::Phase::kForward;
  finding.since_step = account.since_step;
  finding.p_value = around.alarms_per_day;
  finding.effect = effect;
  finding.evidence = fmt::format(
      "all {} ranks of stage {} spend {:.3g} ms more a step against the other stages since step {}",
      stages_[stage].size(), finding.stage, 1e3 * account.excess / account.frames,
      account.since_step);
  account.trend = effect;
  account.told = finding;
  shift_.SetTrouble(stage, true);
  sink.Add(std::move(finding));
}

void StageTimeDetector::OnFrame(const signal::Frame& frame, const Surroundings& around,
                                FindingSink& sink) {
  if (!Applies() || frame.expected_slow || !times_.Read(frame, world_)) return;
  if (!first_steps_.full()) {
    first_steps_.Add(times_.typical_step());
    floor_ = std::max(kStageFloor * first_steps_.Median(), 1e-7F);
    return;
  }
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    scratch_.clear();
    for (const std::int32_t rank : stages_[s]) {
      const float self = times_.self()[static_cast<std::size_t>(rank)];
      if (!signal::IsMissing(self)) scratch_.push_back(self);
    }
    x_[s] = scratch_.empty() ? signal::kMissing : std::log(MedianInPlace(scratch_) + floor_);
  }
  if (!shift_.Observe(x_)) return;
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    if (!signal::IsMissing(x_[s])) ObserveStage(s, frame, around, sink);
  }
}

void StageTimeDetector::Finish(signal::Time now, FindingSink& sink) {
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    if (accounts_[s].told.id != 0) Close(s, now, sink);
  }
}

}  // namespace ringward::detect
