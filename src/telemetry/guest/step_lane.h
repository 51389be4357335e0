#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "telemetry/guest/lane.h"
#include "telemetry/guest/layout.h"

namespace ringward::telemetry {

/// Waiting for other ranks, summed by phase since the recorder was opened. Any thread may add.
class WaitTotals {
 public:
  void Add(std::size_t phase, std::uint64_t ns) {
    ns_[phase].fetch_add(ns, std::memory_order_relaxed);
  }
  std::uint64_t Get(std::size_t phase) const { return ns_[phase].load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> ns_[kPhases];
};

/// Steps and their phases. The caller holds the lane's gate; times never go back.
class StepLane {
 public:
  void Attach(char* segment, Header& header, const WaitTotals& waits);
  /// A step that is under way ends at the same moment. True where its end wrote a record.
  bool Begin(std::uint64_t step, std::int64_t now_ns);
  /// False where no step is under way. `wrote` says whether that ended a record.
  bool End(std::int64_t now_ns, bool& wrote);
  void EnterPhase(Phase phase, std::int64_t now_ns);
  /// kNone ends it.
  void SetSlow(SlowReason reason, std::int64_t now_ns);
  /// Writes what is summed up and not yet in a record.
  void Flush(std::int64_t now_ns);
  /// How many steps go into a record now. Any thread.
  std::uint64_t stride() const { return thinning_.stride(); }
  /// Any thread.
  bool in_step() const { return in_step_.load(std::memory_order_relaxed); }
  std::uint64_t records() const { return lane_.written(); }

 private:
  void ShowState(Phase phase, bool in_step, std::int64_t now_ns);
  void EndPhase(std::int64_t now_ns);

  Lane<StepRecord> lane_;
  Thinning thinning_;
  StepState* state_;
  const Word* collectives_;
  const WaitTotals* waits_;
  StepRecord sum_;
  std::uint64_t waits_seen_[kPhases];
  std::uint64_t collectives_seen_;
  std::int64_t step_since_ns_;
  std::int64_t phase_since_ns_;
  std::uint64_t step_;
  Phase phase_;
  SlowReason slow_;
  std::atomic<bool> in_step_;
};

}  // namespace ringward::telemetry
