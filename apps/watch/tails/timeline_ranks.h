#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "ingest/horovod_timeline/horovod_timeline.h"
#include "watch/source.h"

namespace ringward::watch {

/// The ranks of a job as a Horovod timeline shows them: a round is a step; what a rank waits in it
/// is wait, the rest is its own time, of which a timeline does not tell what it was spent on. Where
/// the timeline has no ticks, all ranks show the same: their own time is then that of whoever came
/// last. A transfer counts as long as the shortest of the last kSteady: one that is longer by
/// itself was kept up by a process without a core, and the timeline does not tell whose; that is
/// own time of all. Not safe for concurrent use.
class TimelineRanks {
 public:
  static constexpr std::size_t kSteady = 8;

  /// What has come of `timeline` since the last call, for each of `world` ranks; `now` is the
  /// watcher's clock, which never goes back.
  std::vector<RankSight> Sights(ingest::HorovodTimeline& timeline, std::size_t world,
                                Clock::Duration now);
  /// The file was begun anew.
  void Restart();

 private:
  ingest::TimelineTime Steady(ingest::TimelineTime transfer);

  std::optional<Clock::Duration> offset_;       ///< of the watcher's clock against the timeline's
  std::deque<ingest::TimelineTime> transfers_;  ///< the last kSteady
};

}  // namespace ringward::watch
