#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

/// What stands in the shared memory of one rank: docs/formats/telemetry_ring.md, version 1.
/// A header that says what the process does now, and three rings of records of one size each.
/// One process writes; others read copies. Every word is 8 bytes, little endian as the machine is.
namespace ringward::telemetry {

inline constexpr std::uint64_t kMagic = 0x3154534555475752;  // "RWGUEST1"
inline constexpr std::uint32_t kLayoutVersion = 1;

/// Where a process is within a training step. The numbers are part of the format.
enum class Phase : std::uint8_t {
  kOther,  ///< none of the others; also between steps
  kData,
  kForward,
  kBackward,
  kCommunicate,
  kOptimizer,
  kCheckpoint,
  kEvaluate,
};
inline constexpr std::size_t kPhases = 8;

/// Why the process says that it will be slow for a while.
enum class SlowReason : std::uint8_t { kNone, kCompile, kEvaluate, kCheckpoint, kOther };
inline constexpr std::size_t kSlowReasons = 5;

enum class LaneKind : std::uint32_t { kSteps, kMetrics, kCollectives };
inline constexpr std::size_t kLanes = 3;

/// Metrics that have their number before anybody names one.
inline constexpr std::uint32_t kLocalLoss = 0;
inline constexpr std::uint32_t kLocalGradientNorm = 1;
inline constexpr std::uint32_t kSamples = 2;
inline constexpr std::uint32_t kLearningRate = 3;
inline constexpr std::uint32_t kWellKnownMetrics = 4;

inline constexpr std::uint32_t kMetricsMax = 128;    ///< metrics of one recorder
inline constexpr std::uint32_t kOperationsMax = 32;  ///< kinds of collectives of one recorder
inline constexpr std::size_t kNameBytes = 48;        ///< of either, with the final zero
inline constexpr std::size_t kJobBytes = 128;        ///< of a job, with the final zero

/// One or more steps, the newest of them `step`. Times in nanoseconds.
struct StepRecord {
  std::uint64_t sequence;  ///< number of the record from 1; 0 while it is written
  std::int64_t end_ns;     ///< monotonic time at which `step` ended
  std::uint64_t step;
  std::uint32_t steps;  ///< how many are summed here
  std::uint32_t flags;  ///< kSlowFlag; bit 8 + p: phase p was entered since the record before
  std::uint64_t total_ns;
  std::uint64_t longest_ns;
  std::uint64_t collectives;        ///< ended since the record before
  std::uint64_t reserved;           ///< 0
  std::uint64_t phase_ns[kPhases];  ///< they add up to total_ns
  std::uint64_t wait_ns[kPhases];   ///< thereof waiting for other ranks
};
inline constexpr std::uint32_t kSlowFlag = 1;  ///< expected to be slow, at least in part
inline constexpr std::uint32_t kPhaseFlagShift = 8;

/// One or more values of a metric, the newest of them `last`.
struct MetricRecord {
  std::uint64_t sequence;
  std::int64_t time_ns;  ///< monotonic, of the newest, to the kernel's tick (1 to 10 ms)
  std::uint64_t step;    ///< the step under way, or the last one
  std::uint32_t metric;
  std::uint32_t count;
  double last;
  double sum;  ///< not finite when any of the values was not
  double min;  ///< of those that are numbers
  double max;
};

/// One or more collectives, the newest of them number `number`.
struct CollectiveRecord {
  std::uint64_t sequence;
  std::int64_t enter_ns;  ///< of the newest
  std::int64_t exit_ns;
  std::uint64_t number;  ///< the same on all ranks for one collective
  std::uint64_t step;
  std::uint64_t bytes;      ///< all that are summed here
  std::uint64_t inside_ns;  ///< likewise
  std::uint32_t count;
  std::uint16_t operation;
  std::uint16_t flags;  ///< kFailedFlag, kOverlappedFlag
};
inline constexpr std::uint16_t kFailedFlag = 1;
inline constexpr std::uint16_t kOverlappedFlag = 2;  ///< computing went on: its time is no wait

static_assert(sizeof(StepRecord) == 192 && sizeof(MetricRecord) == 64 &&
              sizeof(CollectiveRecord) == 64);

/// One word that both sides read and write whole. Release and acquire throughout: the order in
/// which words are stored is the order in which they are seen.
using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free, "shared between processes");

/// What the process does now. `version` is odd while the words after it are being changed.
struct alignas(64) StepState {
  Word version;
  Word phase;           ///< Phase, bit 8: inside a step, bits 16-23: SlowReason under way
  Word phase_since_ns;  ///< monotonic
  Word step;            ///< of the step under way, or the last one
  Word step_since_ns;   ///< when it began; 0 = there was none yet
  Word slow_since_ns;
};
inline constexpr std::uint64_t kInStepBit = 1U << 8U;
inline constexpr std::uint64_t kSlowShift = 16;

struct alignas(64) CollectiveState {
  Word version;
  Word entered;    ///< collectives entered so far
  Word exited;     ///< collectives left so far; fewer than entered: inside one
  Word number;     ///< of the last entered
  Word operation;  ///< of the last entered
  Word since_ns;   ///< of the last entry or exit, whichever is newer; 0 = none yet
  Word bytes;      ///< of the last entered
};

struct LaneInfo {
  std::uint32_t kind;
  std::uint32_t record_bytes;
  std::uint64_t offset;  ///< from the beginning of the segment
  std::uint64_t capacity;
};

/// Number of records written so far, alone on its cache line.
struct alignas(64) LaneHead {
  Word written;
};

struct Header {
  Word magic;  ///< stored last: until then there is nothing to read
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint64_t segment_bytes;
  std::uint64_t start_time;     ///< of the process, clock ticks since boot
  std::uint64_t pid_namespace;  ///< inode of /proc/self/ns/pid; pids compare only within one
  std::int32_t pid;
  std::int32_t rank;
  std::int32_t world;
  std::uint32_t reserved;
  std::int64_t opened_ns;       ///< monotonic
  std::int64_t opened_wall_ns;  ///< since the Unix epoch, at the same moment
  char job[kJobBytes];
  LaneInfo lanes[kLanes];

  alignas(64) Word closed;  ///< 1 = the recorder was closed in order
  Word dropped_busy;        ///< calls dropped because another thread was in one
  Word dropped_misuse;      ///< calls dropped because an argument was wrong
  Word metrics;             ///< how many metric names stand
  Word operations;
  LaneHead heads[kLanes];
  StepState step_state;
  CollectiveState collective_state;
  char metric_names[kMetricsMax][kNameBytes];
  char operation_names[kOperationsMax][kNameBytes];
};

inline constexpr std::size_t kHeaderBytes = 12 << 10;
inline constexpr std::size_t kStepCapacity = 1024;
inline constexpr std::size_t kMetricCapacity = 4096;
inline constexpr std::size_t kCollectiveCapacity = 2048;
inline constexpr std::size_t kStepsAt = kHeaderBytes;
inline constexpr std::size_t kMetricsAt = kStepsAt + kStepCapacity * sizeof(StepRecord);
inline constexpr std::size_t kCollectivesAt = kMetricsAt + kMetricCapacity * sizeof(MetricRecord);
inline constexpr std::size_t kSegmentBytes =
    kCollectivesAt + kCollectiveCapacity * sizeof(CollectiveRecord);
static_assert(sizeof(Header) <= kHeaderBytes && kSegmentBytes <= (1 << 20));

}  // namespace ringward::telemetry
