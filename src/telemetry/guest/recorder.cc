#include "telemetry/guest/recorder.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>

#include "telemetry/guest/clock.h"
#include "telemetry/guest/leftovers.h"
#include "telemetry/guest/process.h"

namespace ringward::telemetry {
namespace {

/// Attempts of the calls that may wait (Open, Close, Register), giving way in between.
constexpr int kPatience = 20'000;

bool EnterPatiently(Gate& gate) {
  for (int i = 0; i < kPatience; ++i) {
    if (gate.TryEnter()) return true;
    sched_yield();
  }
  return false;
}

RecorderStatus StatusOf(int error) {
  switch (error) {
    case ENOSPC:
    case EFBIG:
    case EDQUOT:
    case ENOMEM:
      return RecorderStatus::kNoSpace;
    case EEXIST:
      return RecorderStatus::kAlreadyOpen;
    default:
      return RecorderStatus::kNoAccess;
  }
}

}  // namespace

const char* Describe(RecorderStatus status) {
  switch (status) {
    case RecorderStatus::kForked:
      return "off: this process was forked from the one that opened the recorder";
    case RecorderStatus::kOn:
      return "on";
    case RecorderStatus::kClosed:
      return "off: closed";
    case RecorderStatus::kBadArgument:
      return "off: the job is empty, the rank is outside the world, or the folder's name too long";
    case RecorderStatus::kNoSpace:
      return "off: no room for the shared memory (a full /dev/shm, or a limit on file sizes)";
    case RecorderStatus::kNoAccess:
      return "off: the folder for shared memory is missing or not writable";
    case RecorderStatus::kAlreadyOpen:
      return "off: this process already records as this job and rank";
    case RecorderStatus::kUnsupported:
      return "off: needs Linux 4.14 or newer, and /proc";
  }
  return "unknown status";
}

/// The memory of recorders. It is never given back, so that a late call by another thread meets a
/// recorder that is off and not a hole; closed ones are used again.
class OpenRecorders {
 public:
  /// Null where the list cannot be had or there is no memory. Release() ends the caller's hold.
  static Recorder* Acquire() {
    if (!EnterPatiently(gate_)) return nullptr;
    // A child must not take what its parent's pointers still name.
    if (const pid_t pid = getpid(); pid != pid_) {
      pid_ = pid;
      first_ = nullptr;
    }
    for (Recorder* r = first_; r != nullptr; r = r->next_) {
      if (!r->in_use_) return Reset(r);
    }
    return Grow();
  }
  static void Release() { gate_.Leave(); }
  /// REQUIRES: the list is held.
  static bool Records(const char* path) {
    for (const Recorder* r = first_; r != nullptr; r = r->next_) {
      if (r->status() == RecorderStatus::kOn && std::strcmp(r->path_, path) == 0) return true;
    }
    return false;
  }
  static void GiveBack(Recorder* recorder) {
    if (!EnterPatiently(gate_)) return;
    recorder->in_use_ = false;
    gate_.Leave();
  }
  static Recorder* Reset(Recorder* recorder) {
    Recorder* const next = recorder->next_;
    new (recorder) Recorder();
    recorder->next_ = next;
    recorder->in_use_ = true;
    return recorder;
  }

 private:
  static Recorder* Grow() {
    void* const memory = mmap(nullptr, sizeof(Recorder), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) {
      gate_.Leave();
      return nullptr;
    }
    Recorder* const made = Reset(static_cast<Recorder*>(memory));
    made->next_ = first_;
    first_ = made;
    // In a child the recorder reads as zeros, which is "off", without a call to find that out.
    if (madvise(memory, sizeof(Recorder), MADV_WIPEONFORK) != 0) {
      made->status_.store(static_cast<std::uint32_t>(RecorderStatus::kUnsupported));
    }
    return made;
  }

  inline static Gate gate_;
  inline static Recorder* first_ = nullptr;
  inline static pid_t pid_ = 0;
};

/// A caller's stay in one lane, if it may enter.
class Recorder::Pass {
 public:
  Pass(Recorder& recorder, Gate& gate) : gate_(gate) {
    if (recorder.status() != RecorderStatus::kOn) return;
    if (!gate.TryEnter()) {
      recorder.busy_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    // Close() turns the recorder off first and takes the gates then.
    entered_ = recorder.status() == RecorderStatus::kOn;
    if (!entered_) gate.Leave();
  }
  ~Pass() {
    if (entered_) gate_.Leave();
  }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;
  explicit operator bool() const { return entered_; }

 private:
  Gate& gate_;
  bool entered_ = false;
};

Recorder* Recorder::Open(const RecorderOptions& options) {
  Recorder* const recorder = OpenRecorders::Acquire();
  if (recorder == nullptr) return nullptr;
  recorder->Start(options);
  OpenRecorders::Release();
  return recorder;
}

void Recorder::Start(const RecorderOptions& options) {
  if (status() == RecorderStatus::kUnsupported) return;
  const RecorderStatus made = MakeSegment(options);
  if (made != RecorderStatus::kOn) path_[0] = '\0';
  status_.store(static_cast<std::uint32_t>(made), std::memory_order_release);
}

RecorderStatus Recorder::MakeSegment(const RecorderOptions& options) {
  const char* const folder = options.folder != nullptr ? options.folder : kSegmentFolder;
  if (options.job == nullptr || options.job[0] == '\0' || options.rank < 0 ||
      options.rank >= options.world) {
    return RecorderStatus::kBadArgument;
  }
  const auto pid = static_cast<std::int32_t>(getpid());
  const SegmentName name = MakeSegmentName(options.job, options.rank, pid, ProcessStartTime(pid));
  // Without a start time a living process could not be told from a dead one.
  if (name.start_time == 0) return RecorderStatus::kUnsupported;
  const int length = std::snprintf(path_, sizeof(path_), "%s/", folder);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof(path_) ||
      !FormatSegmentName(name, path_ + length, sizeof(path_) - static_cast<std::size_t>(length))) {
    return RecorderStatus::kBadArgument;
  }
  if (OpenRecorders::Records(path_)) return RecorderStatus::kAlreadyOpen;
  RemoveLeftovers(folder, &name);
  int error = 0;
  segment_ = CreateSegment(path_, error);
  if (segment_ == nullptr && error == EEXIST) {
    // This very process made it, before it replaced its program by exec().
    unlink(path_);
    segment_ = CreateSegment(path_, error);
  }
  if (segment_ == nullptr) return StatusOf(error);
  FillHeader(options, name);
  return RecorderStatus::kOn;
}

void Recorder::FillHeader(const RecorderOptions& options, const SegmentName& name) {
  // The memory is all zeros, which is the empty value of every field.
  Header& header = *new (segment_) Header();
  header_ = &header;
  header.version = kLayoutVersion;
  header.header_bytes = kHeaderBytes;
  header.segment_bytes = kSegmentBytes;
  header.start_time = name.start_time;
  header.pid_namespace = PidNamespace();
  header.pid = name.pid;
  header.rank = options.rank;
  header.world = options.world;
  timespec wall{};
  clock_gettime(CLOCK_REALTIME, &wall);
  header.opened_ns = NowNs();
  header.opened_wall_ns = static_cast<std::int64_t>(wall.tv_sec) * 1'000'000'000 + wall.tv_nsec;
  std::strncpy(header.job, options.job, kJobBytes - 1);
  const auto lane = [](LaneKind kind, std::size_t bytes, std::size_t at, std::size_t capacity) {
    return LaneInfo{static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(bytes), at,
                    capacity};
  };
  header.lanes[0] = lane(LaneKind::kSteps, sizeof(StepRecord), kStepsAt, kStepCapacity);
  header.lanes[1] = lane(LaneKind::kMetrics, sizeof(MetricRecord), kMetricsAt, kMetricCapacity);
  header.lanes[2] =
      lane(LaneKind::kCollectives, sizeof(CollectiveRecord), kCollectivesAt, kCollectiveCapacity);
  steps_.Attach(segment_, header, waits_);
  metrics_.Attach(segment_, header);
  collectives_.Attach(segment_, header);
  header.magic.store(kMagic, std::memory_order_release);
}

void Recorder::Close() {
  auto on = static_cast<std::uint32_t>(RecorderStatus::kOn);
  if (!status_.compare_exchange_strong(on, static_cast<std::uint32_t>(RecorderStatus::kClosed))) {
    if (on > static_cast<std::uint32_t>(RecorderStatus::kClosed)) OpenRecorders::GiveBack(this);
    return;  // it never was on, or is off already
  }
  const bool alone = EnterPatiently(step_gate_) && EnterPatiently(metric_gate_) &&
                     EnterPatiently(collective_gate_);
  unlink(path_);
  path_[0] = '\0';
  // A thread that was stopped in mid-call may go on any time: then the memory stays, and this
  // recorder is not used again.
  if (!alone) return;
  const std::int64_t now = NowNs();
  steps_.Flush(now);
  metrics_.FlushPending(now, header_->step_state.step.load(std::memory_order_relaxed));
  collectives_.Flush();
  ShowCounters();
  Set(header_->closed, 1);
  munmap(segment_, kSegmentBytes);
  OpenRecorders::GiveBack(this);
}

RecorderCounters Recorder::counters() const {
  if (status() != RecorderStatus::kOn) return {};
  return {steps_.records() + metrics_.records() + collectives_.records(),
          busy_.load(std::memory_order_relaxed), misuse_.load(std::memory_order_relaxed)};
}

void Recorder::ShowCounters() {
  Set(header_->dropped_busy, busy_.load(std::memory_order_relaxed));
  Set(header_->dropped_misuse, misuse_.load(std::memory_order_relaxed));
}

void Recorder::BeginStep(std::uint64_t step) {
  const Pass pass(*this, step_gate_);
  if (!pass) return;
  const std::int64_t now = NowNs();
  if (steps_.Begin(step, now)) StepRecordWritten(now);
}

void Recorder::EndStep() {
  const Pass pass(*this, step_gate_);
  if (!pass) return;
  const std::int64_t now = NowNs();
  bool wrote = false;
  if (!steps_.End(now, wrote)) CountMisuse();
  if (wrote) StepRecordWritten(now);
}

void Recorder::StepRecordWritten(std::int64_t now_ns) {
  ShowCounters();
  FlushMetrics(now_ns);
}

void Recorder::FlushMetrics(std::int64_t now_ns) {
  const Pass pass(*this, metric_gate_);
  if (!pass) return;
  metrics_.FlushPending(now_ns, header_->step_state.step.load(std::memory_order_relaxed));
}

void Recorder::EnterPhase(std::uint32_t phase) {
  const Pass pass(*this, step_gate_);
  if (!pass) return;
  if (phase >= kPhases) return CountMisuse();
  steps_.EnterPhase(static_cast<Phase>(phase), NowNs());
}

void Recorder::BeginSlow(std::uint32_t reason) {
  const Pass pass(*this, step_gate_);
  if (!pass) return;
  if (reason == 0 || reason >= kSlowReasons) return CountMisuse();
  steps_.SetSlow(static_cast<SlowReason>(reason), NowNs());
}

void Recorder::EndSlow() {
  const Pass pass(*this, step_gate_);
  if (pass) steps_.SetSlow(SlowReason::kNone, NowNs());
}

std::int32_t Recorder::RegisterMetric(const char* name) {
  if (status() != RecorderStatus::kOn || !EnterPatiently(metric_gate_)) return -1;
  const std::int32_t id = status() == RecorderStatus::kOn ? metrics_.Register(name) : -1;
  metric_gate_.Leave();
  return id;
}

std::int32_t Recorder::RegisterOperation(const char* name) {
  if (status() != RecorderStatus::kOn || !EnterPatiently(collective_gate_)) return -1;
  const std::int32_t id = status() == RecorderStatus::kOn ? collectives_.Register(name) : -1;
  collective_gate_.Leave();
  return id;
}

void Recorder::RecordMetric(std::int32_t metric, double value) {
  const Pass pass(*this, metric_gate_);
  if (!pass) return;
  const auto id = static_cast<std::uint32_t>(metric);
  if (id >= metrics_.registered()) return CountMisuse();
  const StepState& state = header_->step_state;
  const std::uint64_t step = state.step.load(std::memory_order_relaxed);
  if (!steps_.in_step() || steps_.stride() == 1) {
    metrics_.Record(id, value, TickNs(), step);
  } else if (metrics_.Postpone(id, value)) {
    metrics_.WriteSum(id, TickNs(), step);
  }
}

void Recorder::EnterCollective(std::int32_t operation, std::uint64_t number, std::uint64_t bytes,
                               bool overlapped) {
  const Pass pass(*this, collective_gate_);
  if (!pass) return;
  const auto id = static_cast<std::uint32_t>(operation);
  if (id >= collectives_.registered()) return CountMisuse();
  collectives_.Enter(id, number, bytes, overlapped, NowNs());
}

void Recorder::ExitCollective(std::uint64_t number, bool ok) {
  const Pass pass(*this, collective_gate_);
  if (!pass) return;
  const StepState& state = header_->step_state;
  std::uint64_t wait_ns = 0;
  if (!collectives_.Exit(number, ok, state.step.load(std::memory_order_relaxed), NowNs(),
                         wait_ns)) {
    return CountMisuse();
  }
  AddWait(static_cast<std::uint32_t>(state.phase.load(std::memory_order_relaxed) & 0xff), wait_ns);
}

void Recorder::AddWait(std::uint32_t phase, std::uint64_t ns) {
  if (status() != RecorderStatus::kOn) return;
  if (phase >= kPhases) return CountMisuse();
  // What passes between steps is no part of them; a reader sees it in the collective's record.
  if (steps_.in_step()) waits_.Add(phase, ns);
}

}  // namespace ringward::telemetry
