#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "signal/cause.h"
#include "signal/metric.h"
#include "watch/hosts/agent_hub.h"
#include "watch/job_events.h"

namespace ringward::watch {

/// How a rank is seen.
enum class RankState : std::uint8_t {
  kUnseen,  ///< not (yet) seen here: it runs elsewhere, or records nothing
  kLiving,
  kSilent,  ///< lives, and has shown no progress for some seconds
  kEnded,
  kLost,  ///< its source shows it no more, though it has not shown its end
};
inline constexpr std::size_t kRankStates = 5;
/// "unseen", "living", ….
const char* NameOf(RankState state);

struct RankStatus {
  RankState state = RankState::kUnseen;
  signal::Phase phase = signal::Phase::kOther;
  bool in_collective = false;
  std::int64_t step = -1;  ///< under way, or the last one; -1: none
  std::uint64_t collectives = 0;

  friend bool operator==(const RankStatus&, const RankStatus&) = default;
};

/// The numbers of ranks that pages show, each a mean per step. `self` is the time that a rank needs
/// for itself: computing and reading data.
enum class RankMetric : std::uint8_t {
  kSelf,
  kData,
  kWait,
  kLoss,
  kMemory,
  kGpuBusy,
  kGpuMemory,
  kGpuTemperature,
  kGpuPower,
  kGpuClock,
  kGpuHeldBack,
  kGpuErrors,
};
inline constexpr std::size_t kRankMetrics = 12;
struct RankMetricInfo {
  const char* name;  ///< "self", as in the heat page's address
  const char* unit;  ///< "seconds"; empty: none
};
const RankMetricInfo& InfoOf(RankMetric metric);

/// All ranks' numbers of the steps that one look showed to have ended.
struct RankColumn {
  std::int64_t first_step = -1;
  std::int64_t last_step = -1;
  /// [metric][world], kMissing where a rank has not reported; empty: no rank has.
  std::array<std::vector<float>, kRankMetrics> values;

  const std::vector<float>& of(RankMetric metric) const {
    return values[static_cast<std::size_t>(metric)];
  }
  std::size_t bytes() const;
};

/// One job as it stood at the last publication.
struct JobSnapshot {
  JobRun run;
  std::vector<RankStatus> ranks;                  ///< [world]
  std::array<std::size_t, kRankStates> states{};  ///< how many ranks are in each
  std::size_t seen = 0;
  std::int64_t step = -1;
  double step_seconds = 0.0;
  std::uint64_t steps = 0;  ///< ended since watching began
  std::uint64_t records_lost = 0;
  std::uint64_t samples_lost = 0;
  /// Oldest first; a share of it is common to many snapshots.
  std::vector<std::shared_ptr<const RankColumn>> columns;
  std::vector<signal::Cause> incidents;     ///< open ones first, then the newest; bounded
  std::map<std::string, std::size_t> open;  ///< incidents that are not over, by cause
  std::uint64_t found = 0;                  ///< incidents, those beyond the bound too
  bool ended = false;                       ///< or watched no longer

  std::size_t in(RankState state) const { return states[static_cast<std::size_t>(state)]; }
  std::size_t open_incidents() const;
};

/// What the pages show: made by the watcher's thread, never changed once it is published.
struct Snapshot {
  Clock::Duration at{};      ///< wall clock
  Clock::Duration judged{};  ///< wall clock of the last judgement; 0: none yet
  std::uint64_t looks = 0;
  std::uint64_t judgements = 0;
  double cpu_seconds = 0.0;                    ///< of the watcher's process
  std::map<std::string, std::uint64_t> found;  ///< incidents of all jobs, by cause
  std::uint64_t clock_steps = 0;               ///< times that the clock was set
  std::uint64_t rules_changes = 0;
  std::uint64_t not_recorded = 0;                        ///< events, since recording stopped
  std::vector<AgentStatus> agents;                       ///< of other hosts, by host
  std::vector<std::shared_ptr<const JobSnapshot>> jobs;  ///< running ones first

  /// Null where there is no such job.
  const JobSnapshot* Find(const std::string& name) const;
};

/// Where the newest snapshot lies. Thread-safe.
class Published {
 public:
  void Put(std::shared_ptr<const Snapshot> snapshot) {
    const std::lock_guard lock(mutex_);
    newest_ = std::move(snapshot);
  }
  /// Never null.
  std::shared_ptr<const Snapshot> Get() const {
    const std::lock_guard lock(mutex_);
    return newest_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> newest_ = std::make_shared<Snapshot>();
};

}  // namespace ringward::watch
