#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "telemetry/segment_reader.h"

namespace ringward::watch {

/// What one look at a rank shows. Times in it are those of the host's monotonic clock.
struct RankSight {
  telemetry::SegmentInfo who;
  telemetry::SegmentState state;
  telemetry::SegmentBatch batch;  ///< since the look before
  bool stopped = false;           ///< its process (SIGSTOP, a debugger)
  std::uint64_t cpu_ticks = 0;    ///< processor time its process has used so far
  bool ended = false;             ///< its process is gone, or its recorder closed: the last sight
};

/// Where the ranks of jobs are seen. Not safe for concurrent use.
class Source {
 public:
  virtual ~Source() = default;
  /// Every rank that is followed, once; ranks appear as they are found. What cannot be read is
  /// passed over: a look does not fail.
  virtual std::vector<RankSight> Look() = 0;
  /// Returns when the clock shows `until`, or before: when a process ended, or a signal came.
  virtual void Wait(Clock::Duration until) = 0;
  /// Name of the machine that the ranks run on.
  virtual const std::string& host() const = 0;
};

}  // namespace ringward::watch
