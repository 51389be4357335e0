#include "capi/ringward_guest.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "telemetry/guest/layout.h"
#include "telemetry/guest/recorder.h"

// No exception guard: the recorder is written without anything that throws.

using ringward::telemetry::Describe;
using ringward::telemetry::Recorder;
using ringward::telemetry::RecorderCounters;
using ringward::telemetry::RecorderOptions;
using ringward::telemetry::RecorderStatus;

namespace {

namespace rt = ringward::telemetry;

// The constants of the header are those of the shared memory.
static_assert(RW_GUEST_EVALUATE == static_cast<int>(rt::Phase::kEvaluate));
static_assert(RW_GUEST_COMMUNICATE == static_cast<int>(rt::Phase::kCommunicate));
static_assert(RW_GUEST_SLOW_COMPILE == static_cast<int>(rt::SlowReason::kCompile));
static_assert(RW_GUEST_SLOW_OTHER == static_cast<int>(rt::SlowReason::kOther));
static_assert(RW_GUEST_LOCAL_LOSS == rt::kLocalLoss && RW_GUEST_SAMPLES == rt::kSamples);
static_assert(RW_GUEST_LOCAL_GRADIENT_NORM == rt::kLocalGradientNorm);
static_assert(RW_GUEST_LEARNING_RATE == rt::kLearningRate);
static_assert(RW_GUEST_ON == static_cast<int>(RecorderStatus::kOn));
static_assert(RW_GUEST_UNSUPPORTED == static_cast<int>(RecorderStatus::kUnsupported));
static_assert(RW_GUEST_NO_HANDLE == rt::kRecorderStatuses);

Recorder* Of(rw_guest* guest) { return reinterpret_cast<Recorder*>(guest); }
const Recorder* Of(const rw_guest* guest) { return reinterpret_cast<const Recorder*>(guest); }

/// Negative numbers become large ones, which the recorder counts as out of range.
std::uint32_t Unsigned(std::int32_t value) { return static_cast<std::uint32_t>(value); }

}  // namespace

extern "C" {

uint32_t rw_guest_abi_version(void) { return RW_GUEST_ABI_VERSION; }

rw_guest* rw_guest_open(const char* job, int32_t rank, int32_t world,
                        const rw_guest_options* options) {
  RecorderOptions wanted;
  wanted.job = job;
  wanted.rank = rank;
  wanted.world = world;
  if (options != nullptr && options->size >= sizeof(rw_guest_options)) {
    wanted.folder = options->folder;
  }
  return reinterpret_cast<rw_guest*>(Recorder::Open(wanted));
}

void rw_guest_close(rw_guest* guest) {
  if (guest != nullptr) Of(guest)->Close();
}

int32_t rw_guest_status(const rw_guest* guest) {
  return guest == nullptr ? RW_GUEST_NO_HANDLE : static_cast<int32_t>(Of(guest)->status());
}

const char* rw_guest_status_text(int32_t status) {
  if (status == RW_GUEST_NO_HANDLE) return "off: no memory for the recorder";
  return Describe(static_cast<RecorderStatus>(status));
}

const char* rw_guest_path(const rw_guest* guest) {
  return guest == nullptr ? "" : Of(guest)->path();
}

void rw_guest_count(const rw_guest* guest, rw_guest_counters* counters) {
  const RecorderCounters now = guest == nullptr ? RecorderCounters{} : Of(guest)->counters();
  const rw_guest_counters filled{counters->size, now.records, now.dropped_busy, now.dropped_misuse};
  const size_t size = counters->size < sizeof(filled) ? counters->size : sizeof(filled);
  std::memcpy(counters, &filled, size);
}

void rw_guest_step_begin(rw_guest* guest, uint64_t step) {
  if (guest != nullptr) Of(guest)->BeginStep(step);
}

void rw_guest_step_end(rw_guest* guest) {
  if (guest != nullptr) Of(guest)->EndStep();
}

void rw_guest_phase(rw_guest* guest, int32_t phase) {
  if (guest != nullptr) Of(guest)->EnterPhase(Unsigned(phase));
}

void rw_guest_slow_begin(rw_guest* guest, int32_t reason) {
  if (guest != nullptr) Of(guest)->BeginSlow(Unsigned(reason));
}

void rw_guest_slow_end(rw_guest* guest) {
  if (guest != nullptr) Of(guest)->EndSlow();
}

int32_t rw_guest_metric_id(rw_guest* guest, const char* name) {
  return guest == nullptr ? -1 : Of(guest)->RegisterMetric(name);
}

void rw_guest_metric(rw_guest* guest, int32_t metric, double value) {
  if (guest != nullptr) Of(guest)->RecordMetric(metric, value);
}

int32_t rw_guest_operation_id(rw_guest* guest, const char* name) {
  return guest == nullptr ? -1 : Of(guest)->RegisterOperation(name);
}

void rw_guest_collective_enter(rw_guest* guest, int32_t operation, uint64_t number, uint64_t bytes,
                               uint32_t flags) {
  if (guest == nullptr) return;
  Of(guest)->EnterCollective(operation, number, bytes, (flags & RW_GUEST_OVERLAPPED) != 0);
}

void rw_guest_collective_exit(rw_guest* guest, uint64_t number, int32_t ok) {
  if (guest != nullptr) Of(guest)->ExitCollective(number, ok != 0);
}

void rw_guest_wait(rw_guest* guest, int32_t phase, uint64_t ns) {
  if (guest != nullptr) Of(guest)->AddWait(Unsigned(phase), ns);
}

}  // extern "C"
