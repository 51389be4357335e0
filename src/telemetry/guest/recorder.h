#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "telemetry/guest/collective_lane.h"
#include "telemetry/guest/metric_lane.h"
#include "telemetry/guest/segment.h"
#include "telemetry/guest/step_lane.h"

namespace ringward::telemetry {

/// Whether a recorder records, and why not.
enum class RecorderStatus : std::uint32_t {
  kForked,       ///< off: this process is a child of the one that opened it
  kOn,           ///< records
  kClosed,       ///< off: Close() was called
  kBadArgument,  ///< off: no job, a rank outside the world, a folder's name too long
  kNoSpace,      ///< off: the folder's file system is full, or a limit on file sizes
  kNoAccess,     ///< off: the folder is not there or not writable
  kAlreadyOpen,  ///< off: this process already records as this job and rank
  kUnsupported,  ///< off: the kernel cannot clear memory on fork, or /proc is not there
};
inline constexpr std::uint32_t kRecorderStatuses = 8;

/// One line, without a newline, alive for ever.
const char* Describe(RecorderStatus status);

struct RecorderOptions {
  const char* job = nullptr;  ///< not empty; at most kJobBytes - 1 bytes are kept
  std::int32_t rank = 0;      ///< 0 <= rank < world
  std::int32_t world = 1;
  const char* folder = nullptr;  ///< null = kSegmentFolder
};

struct RecorderCounters {
  std::uint64_t records = 0;         ///< written to the rings
  std::uint64_t dropped_busy = 0;    ///< calls that met another thread in the same lane
  std::uint64_t dropped_misuse = 0;  ///< calls with an argument out of range or out of order
};

/// What one rank tells of itself, into shared memory that another process reads.
///
/// No call but Open, Close and the two Register calls makes a system call, and none of the others
/// allocates, locks, waits, prints or throws: what cannot be written at once is dropped and
/// counted. Where the memory cannot be had the recorder is off, says why, and every call returns
/// at once; so does a child after fork(), which may open its own.
///
/// Threads: steps, phases and slow marks form one lane, metrics a second, collectives a third. A
/// lane is meant for one thread at a time; two that meet in a lane are safe, and the later call is
/// dropped and counted. Lanes do not disturb one another. Close() may run beside calls of other
/// threads, and calls after it do nothing.
class Recorder {
 public:
  /// Null only where no memory can be had at all. Removes what dead processes of the same user,
  /// job and rank have left in the folder.
  static Recorder* Open(const RecorderOptions& options);
  /// Removes the segment. The object stays, is off, and may be handed out again by Open().
  void Close();

  RecorderStatus status() const {
    return static_cast<RecorderStatus>(status_.load(std::memory_order_relaxed));
  }
  RecorderCounters counters() const;
  /// "" where it is off.
  const char* path() const { return path_; }

  /// A step that is still under way ends with it.
  void BeginStep(std::uint64_t step);
  void EndStep();
  /// Also outside a step: then it shows where the process is, and counts towards no step.
  void EnterPhase(std::uint32_t phase);
  /// Announces slowness (SlowReason, not kNone) until EndSlow(); marks do not nest.
  void BeginSlow(std::uint32_t reason);
  void EndSlow();

  /// The number of a name (at most kNameBytes - 1 printable characters); -1 where it is not one or
  /// there are too many. The same name has the same number.
  std::int32_t RegisterMetric(const char* name);
  std::int32_t RegisterOperation(const char* name);

  /// While steps last a millisecond or more, and outside steps, every value is a record. In shorter
  /// ones the values of the steps that share a record are summed up; the first that is not finite
  /// is still written at once.
  void RecordMetric(std::int32_t metric, double value);

  /// `number` is equal on all ranks for the same collective. Time between entry and exit counts as
  /// waiting in the phase of the exit, unless `overlapped`: then computing goes on meanwhile.
  void EnterCollective(std::int32_t operation, std::uint64_t number, std::uint64_t bytes,
                       bool overlapped);
  void ExitCollective(std::uint64_t number, bool ok);
  /// Waiting for others that no collective shows, as part of `phase` in the step under way; between
  /// steps it does nothing.
  void AddWait(std::uint32_t phase, std::uint64_t ns);

 private:
  friend class OpenRecorders;
  class Pass;
  void Start(const RecorderOptions& options);
  RecorderStatus MakeSegment(const RecorderOptions& options);
  void FillHeader(const RecorderOptions& options, const SegmentName& name);
  void StepRecordWritten(std::int64_t now_ns);
  void FlushMetrics(std::int64_t now_ns);
  void ShowCounters();
  void CountMisuse() { misuse_.fetch_add(1, std::memory_order_relaxed); }

  std::atomic<std::uint32_t> status_;  // 0 = kForked: what the kernel leaves in a child
  std::atomic<std::uint64_t> busy_;
  std::atomic<std::uint64_t> misuse_;
  char* segment_;
  Header* header_;
  Gate step_gate_;
  Gate metric_gate_;
  Gate collective_gate_;
  WaitTotals waits_;
  StepLane steps_;
  CollectiveLane collectives_;
  MetricLane metrics_;
  char path_[kSegmentPathBytes];
  Recorder* next_;  // of all recorders this process ever opened
  bool in_use_;
};

}  // namespace ringward::telemetry
