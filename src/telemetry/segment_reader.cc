#include "telemetry/segment_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/system_error.h"

namespace ringward::telemetry {
namespace {

/// Attempts to meet a state block at rest. A change takes some 10 ns.
constexpr int kAttempts = 64;

/// Plain copies of the blocks of the layout, word by word.
struct StepStateCopy {
  std::uint64_t version, phase, phase_since_ns, step, step_since_ns, slow_since_ns;
};
struct CollectiveStateCopy {
  std::uint64_t version, entered, exited, number, operation, since_ns, bytes;
};
struct TotalsCopy {
  std::uint64_t closed, dropped_busy, dropped_misuse, metrics, operations;
};
struct HeaderCopy {
  std::uint64_t magic;
  std::uint32_t version, header_bytes;
  std::uint64_t segment_bytes, start_time, pid_namespace;
  std::int32_t pid, rank, world;
  std::uint32_t reserved;
  std::int64_t opened_ns, opened_wall_ns;
  char job[kJobBytes];
  LaneInfo lanes[kLanes];
};
static_assert(offsetof(HeaderCopy, lanes) == offsetof(Header, lanes));
static_assert(offsetof(CollectiveStateCopy, bytes) == offsetof(CollectiveState, bytes));
static_assert(offsetof(StepStateCopy, slow_since_ns) == offsetof(StepState, slow_since_ns));
static_assert(offsetof(TotalsCopy, operations) ==
              offsetof(Header, operations) - offsetof(Header, closed));

constexpr std::array<std::size_t, kLanes> kRecordBytes{sizeof(StepRecord), sizeof(MetricRecord),
                                                       sizeof(CollectiveRecord)};

std::chrono::nanoseconds Time(std::uint64_t ns) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(ns));
}

/// Text of a fixed field, fit to be printed.
std::string Printable(const char* bytes, std::size_t size) {
  std::string text(bytes, strnlen(bytes, size));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

}  // namespace

Status SegmentReader::Copy(void* to, std::size_t bytes, std::size_t at) const {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = pread(fd_.get(), static_cast<char*>(to) + done, bytes - done,
                              static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("cannot read " + path_, errno);
    if (got == 0) return Error(Code::kCorrupt, path_ + ": cut short");
    done += static_cast<std::size_t>(got);
  }
  return Ok();
}

Result<std::uint64_t> SegmentReader::Word64(std::size_t at) const {
  std::uint64_t word = 0;
  RINGWARD_TRY(Copy(&word, sizeof(word), at));
  return word;
}

Result<SegmentReader> SegmentReader::Open(const std::string& path) {
  // Whoever may write to the folder may also put a pipe or a link there.
  Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return SystemError("cannot open " + path, errno);
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return SystemError("cannot stat " + path, errno);
  if (!S_ISREG(info.st_mode)) return Error(Code::kResource, path + ": not a plain file");
  SegmentReader reader(std::move(fd), path);
  RINGWARD_TRY(reader.ReadInfo());
  return reader;
}

Status SegmentReader::CheckLane(std::size_t lane, const LaneInfo& info) {
  // Rings may have other lengths in a later version of the writer; records may not.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 20;
  const bool sound = info.kind == lane && info.record_bytes == kRecordBytes[lane] &&
                     std::has_single_bit(info.capacity) && info.capacity <= kMost &&
                     info.offset <= kMost && info.capacity * info.record_bytes <= kMost;
  if (!sound)
    return Error(Code::kCorrupt, path_ + ": ring " + std::to_string(lane) + " is not one");
  lanes_[lane] = info;
  return Ok();
}

Status SegmentReader::ReadInfo() {
  RINGWARD_ASSIGN(const std::uint64_t magic, Word64(0));
  if (magic == 0) return Error(Code::kUnavailable, path_ + ": is being made");
  HeaderCopy header{};
  RINGWARD_TRY(Copy(&header, sizeof(header), 0));
  if (magic != kMagic) return Error(Code::kCorrupt, path_ + ": not a recorder's segment");
  if (header.version != kLayoutVersion) {
    return Error(Code::kCorrupt, path_ + ": layout version " + std::to_string(header.version) +
                                     ", this program reads " + std::to_string(kLayoutVersion));
  }
  for (std::size_t i = 0; i < kLanes; ++i) RINGWARD_TRY(CheckLane(i, header.lanes[i]));
  if (header.rank < 0 || header.rank >= header.world || header.pid <= 0) {
    return Error(Code::kCorrupt, path_ + ": rank, world or pid out of range");
  }
  info_ = {.job = Printable(header.job, kJobBytes),
           .rank = header.rank,
           .world = header.world,
           .pid = header.pid,
           .start_time = header.start_time,
           .pid_namespace = header.pid_namespace,
           .opened = std::chrono::nanoseconds(header.opened_ns),
           .opened_wall = std::chrono::nanoseconds(header.opened_wall_ns)};
  return Ok();
}

/// The version is read on its own before and after: if it is even and the same, nothing changed.
template <typename Block>
Result<Block> SegmentReader::CopyBlock(std::size_t at, bool& consistent) const {
  Block block{};
  for (int i = 0; i < kAttempts; ++i) {
    RINGWARD_ASSIGN(const std::uint64_t before, Word64(at));
    RINGWARD_TRY(Copy(&block, sizeof(block), at));
    RINGWARD_ASSIGN(const std::uint64_t after, Word64(at));
    if (before == after && before % 2 == 0) return block;
  }
  consistent = false;
  return block;
}

Result<SegmentState> SegmentReader::State() {
  SegmentState state;
  RINGWARD_ASSIGN(const auto step,
                  CopyBlock<StepStateCopy>(offsetof(Header, step_state), state.consistent));
  RINGWARD_ASSIGN(const auto collective, CopyBlock<CollectiveStateCopy>(
                                             offsetof(Header, collective_state), state.consistent));
  TotalsCopy totals{};
  RINGWARD_TRY(Copy(&totals, sizeof(totals), offsetof(Header, closed)));
  const std::uint64_t phase = step.phase & 0xff;
  const std::uint64_t slow = (step.phase >> kSlowShift) & 0xff;
  if (phase >= kPhases || slow >= kSlowReasons) {
    return Error(Code::kCorrupt, path_ + ": its state is none");
  }
  state.closed = totals.closed != 0;
  state.phase = static_cast<Phase>(phase);
  state.phase_since = Time(step.phase_since_ns);
  state.in_step = (step.phase & kInStepBit) != 0;
  state.any_step = step.step_since_ns != 0;
  state.step = step.step;
  state.step_since = Time(step.step_since_ns);
  state.slow = static_cast<SlowReason>(slow);
  state.slow_since = Time(step.slow_since_ns);
  state.inside_collective = collective.entered != collective.exited;
  state.collectives_entered = collective.entered;
  state.collective_number = collective.number;
  if (collective.entered != 0 && collective.operation < kOperationsMax) {
    state.operation = OperationName(static_cast<std::uint32_t>(collective.operation));
  }
  state.collective_bytes = collective.bytes;
  state.collective_since = Time(collective.since_ns);
  state.dropped_busy = totals.dropped_busy;
  state.dropped_misuse = totals.dropped_misuse;
  return state;
}

template <typename Record, typename Check>
Status SegmentReader::ReadLane(std::size_t lane, std::vector<Record>& out, SegmentBatch& batch,
                               Check check) {
  const LaneInfo& info = lanes_[lane];
  const std::size_t head_at = offsetof(Header, heads) + lane * sizeof(LaneHead);
  RINGWARD_ASSIGN(const std::uint64_t head, Word64(head_at));
  std::uint64_t& next = next_[lane];
  if (head < next) return Error(Code::kCorrupt, path_ + ": a ring runs backwards");
  std::uint64_t from = next;
  if (head - from > info.capacity) from = head - info.capacity;
  std::vector<Record> copied(static_cast<std::size_t>(head - from));
  for (std::uint64_t i = from; i < head;) {  // in one piece, or two around the end of the ring
    const std::uint64_t slot = i & (info.capacity - 1);
    const std::uint64_t piece = std::min(head - i, info.capacity - slot);
    RINGWARD_TRY(Copy(&copied[static_cast<std::size_t>(i - from)],
                      static_cast<std::size_t>(piece) * sizeof(Record),
                      static_cast<std::size_t>(info.offset + slot * sizeof(Record))));
    i += piece;
  }
  // Record number `after` may be under way, in the slot of the one a whole ring older: what is that
  // old may have changed under our hands.
  RINGWARD_ASSIGN(const std::uint64_t after, Word64(head_at));
  if (after < head) return Error(Code::kCorrupt, path_ + ": a ring runs backwards");
  const std::uint64_t gone = after - std::min(after, info.capacity - 1);
  const std::uint64_t first = std::clamp(gone, from, head);
  batch.overwritten += first - next;
  for (std::uint64_t i = first; i < head; ++i) {
    const Record& record = copied[static_cast<std::size_t>(i - from)];
    if (record.sequence == i + 1 && check(record)) {
      out.push_back(record);
    } else {
      ++batch.malformed;
    }
  }
  next = head;
  return Ok();
}

Result<SegmentBatch> SegmentReader::Read() {
  SegmentBatch batch;
  RINGWARD_TRY(ReadLane(0, batch.steps, batch, [](const StepRecord& r) { return r.steps > 0; }));
  RINGWARD_TRY(ReadLane(1, batch.metrics, batch, [this](const MetricRecord& r) {
    return r.count > 0 && !MetricName(r.metric).empty();
  }));
  RINGWARD_TRY(ReadLane(2, batch.collectives, batch, [this](const CollectiveRecord& r) {
    return r.count > 0 && !OperationName(r.operation).empty();
  }));
  return batch;
}

std::string SegmentReader::Name(std::vector<std::string>& known, std::size_t at,
                                std::size_t count_at, std::uint32_t limit, std::uint32_t number) {
  if (number >= limit) return {};
  if (number < known.size()) return known[number];
  const auto count = Word64(count_at);
  if (!count || number >= *count) return {};
  while (known.size() <= number) {
    char name[kNameBytes] = {};
    if (!Copy(name, sizeof(name), at + known.size() * kNameBytes)) return {};
    known.push_back(Printable(name, sizeof(name)));
  }
  return known[number];
}

std::string SegmentReader::MetricName(std::uint32_t metric) {
  return Name(metric_names_, offsetof(Header, metric_names), offsetof(Header, metrics), kMetricsMax,
              metric);
}

std::string SegmentReader::OperationName(std::uint32_t operation) {
  return Name(operation_names_, offsetof(Header, operation_names), offsetof(Header, operations),
              kOperationsMax, operation);
}

}  // namespace ringward::telemetry
