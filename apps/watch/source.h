#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "signal/event.h"
#include "signal/metric.h"
#include "telemetry/segment_reader.h"

namespace ringward::watch {

/// A number of a rank's machine.
struct MachineValue {
  signal::Known metric{};
  double value = 0.0;
};

/// What one look at a rank shows. Times in it are on the watcher's monotonic clock, as well as they
/// are known.
struct RankSight {
  telemetry::SegmentInfo who;
  telemetry::SegmentState state;
  telemetry::SegmentBatch batch;  ///< since the look before
  bool stopped = false;           ///< its process (SIGSTOP, a debugger)
  std::uint64_t cpu_ticks = 0;    ///< processor time its process has used so far
  bool ended = false;             ///< its process is gone, or its recorder closed: the last sight
  std::string host{};             ///< the machine that it runs on
  Clock::Duration looked{};       ///< when
  Clock::Duration unsure{};       ///< how far the times of another machine may be off, either way
  bool blind = false;  ///< nothing is heard of its host: the rest is how it was seen last
  /// What its machine did since this was told last; in about one look a second.
  std::vector<MachineValue> machine{};
  /// What logs of the job say, of whichever ranks; on one of its sights.
  std::vector<signal::LogLine> said{};
};

/// Where the ranks of jobs are seen. Not safe for concurrent use.
class Source {
 public:
  virtual ~Source() = default;
  /// Every rank that is followed, once; ranks appear as they are found. What cannot be read is
  /// passed over: a look does not fail. Where nothing is new of a rank, `looked` is as it was.
  virtual std::vector<RankSight> Look() = 0;
  /// Returns when the clock shows `until`, or before: when a process ended, or a signal came.
  virtual void Wait(Clock::Duration until) = 0;
};

}  // namespace ringward::watch
