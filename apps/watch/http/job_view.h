#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "signal/frame.h"
#include "watch/http/snapshot.h"
#include "watch/watcher.h"

namespace ringward::watch {

/// Gathers what pages show of one job while it is watched. Memory is bounded. Not safe for
/// concurrent use.
class JobView {
 public:
  /// Of a job of so many ranks.
  explicit JobView(std::int32_t world);

  void Take(const JobLook& look);

  /// `job` is the one whose looks were taken.
  std::shared_ptr<const JobSnapshot> Show(const JobWatch& job) const;
  /// For good: every living rank counts as ended, and so does the job.
  std::shared_ptr<const JobSnapshot> ShowEnded(const JobWatch& job) const;

 private:
  /// Sums over the steps of one look.
  struct Sums {
    std::int64_t first_step = -1;
    std::int64_t last_step = -1;
    std::array<std::vector<float>, kRankMetrics> total;
    std::array<std::vector<float>, kRankMetrics> steps;
  };

  void TakeSight(const RankSight& sight, Clock::Duration now);
  void TakeEvent(const signal::Event& event, Sums& sums);
  void Add(const signal::Frame& frame, Sums& sums) const;
  void Keep(const Sums& sums);
  std::shared_ptr<JobSnapshot> Fill(const JobWatch& job) const;

  std::vector<RankStatus> ranks_;         ///< [world]
  std::vector<Clock::Duration> changed_;  ///< [world] when a rank was last seen to move
  std::deque<std::shared_ptr<const RankColumn>> columns_;
  std::size_t column_bytes_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace ringward::watch
