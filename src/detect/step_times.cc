#include "detect/step_times.h"

#include <algorithm>

#include "detect/robust.h"
#include "signal/metric.h"

namespace ringward::detect {
namespace {

using signal::IsMissing;
using signal::kMissing;
using signal::Known;

/// One metric of all ranks, seconds a step; nonsense counts as not reported.
bool Copy(const signal::Frame& frame, Known metric, std::size_t world, std::vector<float>& out) {
  out.assign(world, kMissing);
  const signal::Column* const column = frame.Find(metric);
  if (column == nullptr) return false;
  const float share = 1.0F / static_cast<float>(std::max(frame.steps, 1));
  const std::size_t count = std::min(world, column->values.size());
  for (std::size_t r = 0; r < count; ++r) {
    const float value = column->values[r];
    if (value >= 0.0F && value < kSecondsMost) out[r] = value * share;
  }
  return true;
}

}  // namespace

void StepTimes::Derive(std::size_t rank) {
  float& compute = compute_[rank];
  const float data = IsMissing(data_[rank]) ? 0.0F : data_[rank];
  const float wait = IsMissing(wait_[rank]) ? 0.0F : wait_[rank];
  if (IsMissing(compute) && !IsMissing(step_[rank])) {
    compute = std::max(0.0F, step_[rank] - data - wait);
  }
  self_[rank] = IsMissing(compute) ? data_[rank] : compute + data;
  if (IsMissing(step_[rank]) && !IsMissing(self_[rank])) step_[rank] = self_[rank] + wait;
}

bool StepTimes::Read(const signal::Frame& frame, std::size_t world) {
  Copy(frame, Known::kStepTime, world, step_);
  Copy(frame, Known::kDataTime, world, data_);
  Copy(frame, Known::kComputeTime, world, compute_);
  has_wait_ = Copy(frame, Known::kWaitTime, world, wait_);
  self_.resize(world);
  scratch_.clear();
  for (std::size_t r = 0; r < world; ++r) {
    Derive(r);
    if (!IsMissing(step_[r])) scratch_.push_back(step_[r]);
  }
  if (scratch_.empty()) return false;
  typical_step_ = MedianInPlace(scratch_);
  return true;
}

}  // namespace ringward::detect
