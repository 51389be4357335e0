// A job without processes, for tests.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "watch/source.h"

namespace ringward::watch {

inline constexpr std::int32_t kFakeWorld = 4;
inline constexpr std::chrono::milliseconds kFakeStep{50};

/// Four ranks in step: 45 ms of compute, 5 ms inside the collective.
class FakeSource final : public Source {
 public:
  explicit FakeSource(ManualClock& clock) : clock_(clock) {
    for (std::int32_t rank = 0; rank < kFakeWorld; ++rank) {
      sights_.push_back(
          {.who = {.job = "job", .rank = rank, .world = kFakeWorld, .pid = 100 + rank},
           .host = "here"});
    }
  }

  std::vector<RankSight> Look() override {
    if (!frozen_) {
      for (; clock_.Now() - ended_ >= kFakeStep + slow_; ended_ += kFakeStep + slow_) EndStep();
    }
    if (clock_.Now() - sampled_ >= std::chrono::seconds(1)) {
      const double share = std::chrono::duration<double>(waited_) / (clock_.Now() - sampled_);
      for (RankSight& sight : sights_) sight.machine = MachineOf(sight.who.rank, share);
      sampled_ = clock_.Now();
      waited_ = {};
    }
    for (RankSight& sight : sights_) {
      if (!sight.blind) sight.looked = clock_.Now();
    }
    std::vector<RankSight> seen = sights_;
    for (RankSight& sight : sights_) {
      sight.batch = {};
      sight.machine.clear();
    }
    std::erase_if(sights_, [](const RankSight& sight) { return sight.ended; });
    return seen;
  }
  void Wait(Clock::Duration until) override { clock_.Advance(until - clock_.Now()); }

  /// Rank 2 stops in the middle of a step; the others get into the collective.
  void Freeze(bool inside) {
    frozen_ = true;
    for (RankSight& sight : sights_) {
      sight.state.inside_collective = inside || sight.who.rank != 2;
      ++sight.state.collectives_entered;
    }
    sights_[2].stopped = true;
    if (!inside) --sights_[2].state.collectives_entered;
  }
  void Thaw() {
    frozen_ = false;
    ended_ = clock_.Now() - kFakeStep;
    sights_[2].stopped = false;
    for (RankSight& sight : sights_) sight.state.inside_collective = false;
  }
  RankSight& rank(std::size_t at) { return sights_[at]; }
  /// A rank that has ended, as another process. It counts its steps `behind` those of the others.
  void Restart(std::int32_t rank, std::int32_t pid, const std::string& host,
               std::uint64_t behind = 0) {
    RankSight sight{.who = {.job = "job", .rank = rank, .world = kFakeWorld, .pid = pid},
                    .host = host};
    const auto place = std::find_if(sights_.begin(), sights_.end(),
                                    [&](const RankSight& each) { return each.who.rank > rank; });
    sights_.insert(place, std::move(sight));
    behind_[rank] = behind;
  }
  std::uint64_t step() const { return step_; }
  /// Tells the last steps of all ranks once more, as an agent does that is started anew.
  void Repeat() {
    for (RankSight& sight : sights_) {
      const auto& told = told_[sight.who.rank];
      sight.batch.steps.insert(sight.batch.steps.begin(), told.begin(), told.end());
      for (const telemetry::StepRecord& record : told)
        sight.batch.metrics.push_back(
            {.step = record.step, .metric = telemetry::kLocalLoss, .count = 1, .sum = 1e9});
    }
  }
  void EndAll(bool closed) {
    for (RankSight& sight : sights_) {
      sight.ended = true;
      sight.state.closed = closed;
    }
  }
  /// Rank 1 needs 30 ms longer for a step, `queued` of them for want of a core.
  void Slow(std::chrono::milliseconds queued) {
    slow_ = std::chrono::milliseconds(30);
    queued_ = queued;
  }
  /// Added to the loss of a rank in each step.
  std::function<double(std::int32_t rank)> loss = [](std::int32_t) { return 1.0; };

 private:
  /// `share` of the time since it was told last, rank 1 had no core.
  static std::vector<MachineValue> MachineOf(std::int32_t rank, double share) {
    const double queued = rank == 1 ? share : 0.0;
    return {{signal::Known::kRunWait, 0.01 + queued},
            {signal::Known::kCore, static_cast<double>(rank)},
            {signal::Known::kCoreOthers, queued}};
  }

  void EndStep() {
    for (RankSight& sight : sights_) {
      // A little noise, the same in every run.
      const std::uint64_t noise =
          (step_ * 7919 + static_cast<std::uint64_t>(sight.who.rank) * 104729) % 1000;
      const std::uint64_t step = step_ - behind_[sight.who.rank];
      telemetry::StepRecord record{
          .end_ns = (ended_ + kFakeStep + slow_).count(), .step = step, .steps = 1};
      const auto slow = static_cast<std::uint64_t>(std::chrono::nanoseconds(slow_).count());
      const std::uint64_t own = sight.who.rank == 1 ? slow : 0;
      record.phase_ns[static_cast<std::size_t>(telemetry::Phase::kForward)] =
          45'000'000 + noise * 1000 + own;
      record.phase_ns[static_cast<std::size_t>(telemetry::Phase::kCommunicate)] =
          5'000'000 - noise * 1000 + slow - own;
      record.total_ns = 50'000'000 + slow;
      const double value = loss(sight.who.rank);
      sight.batch.steps.push_back(record);
      told_[sight.who.rank].push_back(record);
      sight.batch.metrics.push_back(
          {.step = step, .metric = telemetry::kLocalLoss, .count = 1, .sum = value});
      sight.state.any_step = true;
      sight.state.step = step + 1;
      ++sight.state.collectives_entered;
      ++sight.cpu_ticks;
    }
    waited_ += queued_;
    ++step_;
  }

  std::chrono::milliseconds slow_{};
  std::chrono::milliseconds queued_{};  ///< of rank 1 for a core, in each step
  std::chrono::milliseconds waited_{};  ///< so far, since the machine told
  Clock::Duration sampled_{};
  ManualClock& clock_;
  std::vector<RankSight> sights_;
  std::uint64_t step_ = 0;
  std::map<std::int32_t, std::uint64_t> behind_;
  std::map<std::int32_t, std::vector<telemetry::StepRecord>> told_;
  Clock::Duration ended_{};
  bool frozen_ = false;
};

}  // namespace ringward::watch
