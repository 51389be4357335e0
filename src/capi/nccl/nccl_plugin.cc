// libnccl-profiler-ringward.so: what NCCL loads where NCCL_PROFILER_PLUGIN=ringward.
#include "capi/nccl/collective_record.h"
#include "capi/nccl/profiler_abi.h"

namespace {

using ringward::capi::nccl::CollectiveRecord;
using ringward::capi::nccl::Event;
using ringward::capi::nccl::kSuccess;
using ringward::capi::nccl::Profiler;

constinit CollectiveRecord record;

// Nothing that goes wrong here may change what NCCL does: all succeed.

int Init(void** context, int* mask, const char* /*communicator*/, std::uint64_t hash, int /*nodes*/,
         int ranks, int rank, void (* /*log*/)()) {
  *context = record.Begin(hash, ranks, rank);
  *mask = *context == nullptr
              ? 0
              : ringward::capi::nccl::kCollective | ringward::capi::nccl::kKernelChannel;
  return kSuccess;
}

int StartEvent(void* context, void** handle, Event* event) {
  *handle = record.Start(context, *event);
  return kSuccess;
}

int StopEvent(void* handle) {
  record.Stop(handle);
  return kSuccess;
}

int RecordState(void* /*handle*/, int /*state*/, void* /*arguments*/) { return kSuccess; }

int Finalize(void* context) {
  record.End(context);
  return kSuccess;
}

}  // namespace

extern "C" {
extern const __attribute__((visibility("default"))) Profiler ncclProfiler_v4;
const Profiler ncclProfiler_v4 = {"ringward", Init, StartEvent, StopEvent, RecordState, Finalize};
}
