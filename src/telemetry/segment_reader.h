#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "telemetry/guest/layout.h"

namespace ringward::telemetry {

/// Who writes a segment. Everything read from a segment is what that process says of itself.
struct SegmentInfo {
  std::string job;  ///< printable; other characters are shown as '?'
  std::int32_t rank = 0;
  std::int32_t world = 0;
  std::int32_t pid = 0;
  std::uint64_t start_time = 0;            ///< of the process, clock ticks since boot
  std::uint64_t pid_namespace = 0;         ///< pids compare only within one
  std::chrono::nanoseconds opened{};       ///< monotonic
  std::chrono::nanoseconds opened_wall{};  ///< since the Unix epoch, at the same moment
};

/// What the process does now. Times are monotonic.
struct SegmentState {
  /// False where the writer was met in the middle of a change, again and again: it is stopped or
  /// dead there, and fields may belong to two neighbouring moments.
  bool consistent = true;
  bool closed = false;  ///< the recorder was closed in order: nothing more will come
  Phase phase = Phase::kOther;
  std::chrono::nanoseconds phase_since{};
  bool in_step = false;
  bool any_step = false;
  std::uint64_t step = 0;  ///< under way, or the last one
  std::chrono::nanoseconds step_since{};
  SlowReason slow = SlowReason::kNone;
  std::chrono::nanoseconds slow_since{};
  bool inside_collective = false;
  std::uint64_t collectives_entered = 0;
  std::uint64_t collective_number = 0;  ///< of the last entered
  std::string operation;                ///< of the last entered; "" = none yet
  std::uint64_t collective_bytes = 0;
  std::chrono::nanoseconds collective_since{};  ///< last entry or exit
  std::uint64_t dropped_busy = 0;               ///< by the writer, as of its last record
  std::uint64_t dropped_misuse = 0;
};

/// Records of one call, oldest first.
struct SegmentBatch {
  std::vector<StepRecord> steps;
  std::vector<MetricRecord> metrics;
  std::vector<CollectiveRecord> collectives;
  std::uint64_t overwritten = 0;  ///< records that came and went since the call before
  std::uint64_t malformed = 0;    ///< records with a number out of range, or torn in writing
};

/// Reads the shared memory of one rank, from another process.
///
/// Whatever the file holds, however it changes and even when it is cut short, reading ends in
/// values or an Error: it copies by pread() and maps nothing, so that there is no SIGBUS; every
/// number that is used as an index is checked. Not thread-safe.
class SegmentReader {
 public:
  /// Errors: kResource (cannot be opened or is not a plain file), kUnavailable (is being made: try
  /// again), kCorrupt (not a segment of this version).
  static Result<SegmentReader> Open(const std::string& path);

  const SegmentInfo& info() const { return info_; }
  const std::string& path() const { return path_; }

  /// Errors: kCorrupt (the file is shorter than it was).
  Result<SegmentState> State();

  /// Records written since the call before; the first gives all that are still there. At most the
  /// capacity of the rings. Errors: as State(), and kCorrupt where a ring runs backwards.
  Result<SegmentBatch> Read();

  /// Names of the numbers in records; "" where there is no such number. Known names are kept; a new
  /// number is looked up in the file.
  std::string MetricName(std::uint32_t metric);
  std::string OperationName(std::uint32_t operation);

 private:
  SegmentReader(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Status ReadInfo();
  Status CheckLane(std::size_t lane, const LaneInfo& info);
  Status Copy(void* to, std::size_t bytes, std::size_t at) const;
  Result<std::uint64_t> Word64(std::size_t at) const;
  template <typename Block>
  Result<Block> CopyBlock(std::size_t at, bool& consistent) const;
  template <typename Record, typename Check>
  Status ReadLane(std::size_t lane, std::vector<Record>& out, SegmentBatch& batch, Check check);
  std::string Name(std::vector<std::string>& known, std::size_t at, std::size_t count_at,
                   std::uint32_t limit, std::uint32_t number);

  Fd fd_;
  std::string path_;
  SegmentInfo info_;
  std::array<LaneInfo, kLanes> lanes_{};
  std::array<std::uint64_t, kLanes> next_{};  // records taken or passed over
  std::vector<std::string> metric_names_;
  std::vector<std::string> operation_names_;
};

}  // namespace ringward::telemetry
