#include "telemetry/guest/step_lane.h"

namespace ringward::telemetry {
namespace {

std::uint64_t Between(std::int64_t from_ns, std::int64_t to_ns) {
  return to_ns > from_ns ? static_cast<std::uint64_t>(to_ns - from_ns) : 0;
}

std::uint32_t FlagOf(Phase phase) {
  return 1U << (kPhaseFlagShift + static_cast<std::uint32_t>(phase));
}

}  // namespace

void StepLane::Attach(char* segment, Header& header, const WaitTotals& waits) {
  lane_.Attach(segment, kStepsAt, kStepCapacity, header.heads[0]);
  thinning_.Reset();
  state_ = &header.step_state;
  collectives_ = &header.collective_state.exited;
  waits_ = &waits;
}

void StepLane::ShowState(Phase phase, bool in_step, std::int64_t now_ns) {
  phase_ = phase;
  phase_since_ns_ = now_ns;
  in_step_.store(in_step, std::memory_order_relaxed);
  Set(state_->phase, static_cast<std::uint64_t>(phase) | (in_step ? kInStepBit : 0) |
                         static_cast<std::uint64_t>(slow_) << kSlowShift);
  SetTime(state_->phase_since_ns, now_ns);
}

void StepLane::EndPhase(std::int64_t now_ns) {
  sum_.phase_ns[static_cast<std::size_t>(phase_)] += Between(phase_since_ns_, now_ns);
}

bool StepLane::Begin(std::uint64_t step, std::int64_t now_ns) {
  bool wrote = false;
  End(now_ns, wrote);
  if (sum_.steps > 0 && step != step_ + 1) Flush(now_ns);
  if (slow_ != SlowReason::kNone) sum_.flags |= kSlowFlag;
  step_ = step;
  step_since_ns_ = now_ns;
  const StateChange change(state_->version);
  ShowState(Phase::kOther, true, now_ns);
  Set(state_->step, step);
  SetTime(state_->step_since_ns, now_ns);
  return wrote;
}

bool StepLane::End(std::int64_t now_ns, bool& wrote) {
  wrote = false;
  if (!in_step()) return false;
  EndPhase(now_ns);
  const std::uint64_t took = Between(step_since_ns_, now_ns);
  sum_.step = step_;
  sum_.end_ns = now_ns;
  sum_.total_ns += took;
  if (took > sum_.longest_ns) sum_.longest_ns = took;
  ++sum_.steps;
  {
    const StateChange change(state_->version);
    ShowState(Phase::kOther, false, now_ns);
  }
  wrote = thinning_.Ends(step_, now_ns);
  if (wrote) Flush(now_ns);
  return true;
}

void StepLane::EnterPhase(Phase phase, std::int64_t now_ns) {
  if (in_step()) EndPhase(now_ns);
  sum_.flags |= FlagOf(phase);
  const StateChange change(state_->version);
  ShowState(phase, in_step(), now_ns);
}

void StepLane::SetSlow(SlowReason reason, std::int64_t now_ns) {
  slow_ = reason;
  if (reason != SlowReason::kNone) sum_.flags |= kSlowFlag;
  const StateChange change(state_->version);
  const std::uint64_t shown = state_->phase.load(std::memory_order_relaxed);
  Set(state_->phase, (shown & ((1U << kSlowShift) - 1)) | static_cast<std::uint64_t>(reason)
                                                              << kSlowShift);
  SetTime(state_->slow_since_ns, now_ns);
}

void StepLane::Flush(std::int64_t now_ns) {
  if (sum_.steps == 0) return;
  for (std::size_t i = 0; i < kPhases; ++i) {
    const std::uint64_t total = waits_->Get(i);
    sum_.wait_ns[i] = total - waits_seen_[i];
    waits_seen_[i] = total;
  }
  const std::uint64_t collectives = collectives_->load(std::memory_order_relaxed);
  sum_.collectives = collectives - collectives_seen_;
  collectives_seen_ = collectives;
  lane_.Write(sum_);
  sum_ = {};
  thinning_.Wrote(now_ns);
}

}  // namespace ringward::telemetry
