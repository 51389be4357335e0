#include "comm/gloo/gloo_communicator.h"

#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/types.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "comm/deadline_watch.h"
#include "comm/gloo/mesh.h"
#include "comm/reduce.h"

namespace ringward::comm {
namespace {

using std::chrono::milliseconds;

// Gloo's own timeouts run a little longer than the watch, which leaves word before it cuts.
constexpr milliseconds kGlooSlack{500};

/// Calls `set(typed pointer)` with an element type as large as `dtype`: Gloo only wants the size.
template <typename Set>
void WithType(void* data, DType dtype, Set set) {
  switch (SizeOf(dtype)) {
    case 2:
      return set(static_cast<std::uint16_t*>(data));
    case 4:
      return set(static_cast<std::uint32_t*>(data));
    default:
      return set(static_cast<std::uint64_t*>(data));
  }
}

class GlooCommunicator final : public EngineBase {
 public:
  GlooCommunicator(const GlooOptions& options, std::unique_ptr<Mesh> mesh)
      : EngineBase(options.rank, options.size, options.timeout),
        mesh_(std::move(mesh)),
        watch_(WatchTick(options.timeout),
               {.expired = [this](std::uint64_t, milliseconds timeout) { Expire(timeout); },
                .waiting = {}}) {}
  ~GlooCommunicator() override { StopWorker(); }
  GlooCommunicator(const GlooCommunicator&) = delete;
  GlooCommunicator& operator=(const GlooCommunicator&) = delete;
  const char* engine() const override { return "gloo"; }
  const std::shared_ptr<::gloo::Context>& context() const { return mesh_->context(); }

 private:
  static milliseconds WatchTick(milliseconds timeout) {
    return std::clamp(timeout / 20, milliseconds(5), milliseconds(100));
  }

  Status DoAllReduce(Buffer data, ReduceOp op, const Call& call) override {
    return Guarded(call, [&] {
      ScaleBefore(op, data, size());
      ::gloo::AllreduceOptions options(mesh_->context());
      WithType(data.data, data.dtype, [&](auto* typed) { options.setOutput(typed, data.count); });
      options.setReduceFunction(
          [op, dtype = data.dtype](void* out, const void* a, const void* b, std::size_t count) {
            Combine(op, dtype, out, a, b, count);
          });
      options.setTimeout(call.timeout + kGlooSlack);
      ::gloo::allreduce(options);
      ScaleAfter(op, data, size());
    });
  }

  Status DoAllGatherV(Buffer send, Buffer receive, std::span<const std::size_t> counts,
                      const Call& call) override {
    return Guarded(call, [&] {
      CopyOwnPart(send, receive, counts);
      ::gloo::AllgathervOptions options(mesh_->context());
      WithType(receive.data, receive.dtype, [&](auto* typed) {
        options.setOutput(typed, std::vector<std::size_t>(counts.begin(), counts.end()));
      });
      options.setTimeout(call.timeout + kGlooSlack);
      ::gloo::allgatherv(options);
    });
  }

  Status DoBroadcast(Buffer data, int root, const Call& call) override {
    return Guarded(call, [&] {
      ::gloo::BroadcastOptions options(mesh_->context());
      WithType(data.data, data.dtype, [&](auto* typed) { options.setOutput(typed, data.count); });
      options.setRoot(root);
      options.setTimeout(call.timeout + kGlooSlack);
      ::gloo::broadcast(options);
    });
  }

  Status DoReduceScatter(Buffer send, Buffer receive, std::span<const std::size_t> counts,
                         ReduceOp op, const Call& call) override {
    const std::size_t element = SizeOf(send.dtype);
    try {
      scratch_.resize(send.count * element);
    } catch (const std::bad_alloc&) {
      return Error(Code::kResource, "no memory for " + std::to_string(send.count) + " elements");
    }
    std::memcpy(scratch_.data(), send.data, scratch_.size());
    RINGWARD_TRY(DoAllReduce({scratch_.data(), send.count, send.dtype}, op, call));
    const std::size_t before =
        std::accumulate(counts.begin(), counts.begin() + rank(), std::size_t{0});
    if (receive.count > 0) {
      std::memcpy(receive.data, scratch_.data() + before * element, receive.count * element);
    }
    return Ok();
  }

  Status DoBarrier(const Call& call) override {
    return Guarded(call, [&] {
      ::gloo::BarrierOptions options(mesh_->context());
      options.setTimeout(call.timeout + kGlooSlack);
      ::gloo::barrier(options);
    });
  }

  void OnBroken(const Error& error) override { mesh_->Fail(error); }

  void CopyOwnPart(Buffer send, Buffer receive, std::span<const std::size_t> counts) const {
    const std::size_t before =
        std::accumulate(counts.begin(), counts.begin() + rank(), std::size_t{0});
    char* own = static_cast<char*>(receive.data) + before * SizeOf(receive.dtype);
    if (send.count > 0 && own != send.data) {
      std::memcpy(own, send.data, send.count * SizeOf(send.dtype));
    }
  }

  /// The edge to Gloo: runs `work` under the watch and turns exceptions into errors.
  template <typename Work>
  Status Guarded(const Call& call, Work work) {
    watch_.Arm(call.sequence, call.timeout);
    try {
      work();
      watch_.Disarm();
      return Ok();
    } catch (const std::bad_alloc&) {
      watch_.Disarm();
      return Error(Code::kResource, "out of memory inside gloo");
    } catch (const std::exception& failure) {
      watch_.Disarm();
      return Diagnosis(failure.what());
    }
  }

  Error Diagnosis(const char* text) {
    {
      const std::lock_guard lock(expired_mutex_);
      if (expired_) return *expired_;
    }
    return mesh_->Diagnose(text);
  }

  /// On the watch's thread: the call under way has had its time.
  void Expire(milliseconds timeout) {
    const Error error =
        mesh_->Diagnose("Timed out after " + std::to_string(timeout.count()) + " ms");
    {
      const std::lock_guard lock(expired_mutex_);
      expired_ = error;
    }
    mesh_->Fail(error);
  }

  std::unique_ptr<Mesh> mesh_;
  std::vector<std::byte> scratch_;  // of reduce-scatter; keeps its capacity
  std::mutex expired_mutex_;
  std::optional<Error> expired_;  // guarded by expired_mutex_
  DeadlineWatch watch_;           // last: its thread uses the members above
};

template <typename T>
RawAllReduce RawOf(std::shared_ptr<::gloo::Context> context, ReduceOp op) {
  void (*reduce)(void*, const void*, const void*, std::size_t) = &::gloo::sum<T>;
  if (op == ReduceOp::kMin) reduce = &::gloo::min<T>;
  if (op == ReduceOp::kMax) reduce = &::gloo::max<T>;
  if (op == ReduceOp::kProduct) reduce = &::gloo::product<T>;
  return [context = std::move(context), reduce](Buffer data) -> Status {
    try {
      ::gloo::AllreduceOptions options(context);
      options.setOutput(static_cast<T*>(data.data), data.count);
      options.setReduceFunction(reduce);
      ::gloo::allreduce(options);
      return Ok();
    } catch (const std::exception& failure) {
      return Error(Code::kUnavailable, OneLine(failure.what()));
    }
  };
}

void IgnoreBrokenPipes() {
  struct sigaction now {};
  if (sigaction(SIGPIPE, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  now.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &now, nullptr);
}

}  // namespace

Result<std::unique_ptr<Communicator>> MakeGloo(const GlooOptions& options) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size) {
    return Error(Code::kInvalidInput, "rank " + std::to_string(options.rank) + " of " +
                                          std::to_string(options.size) + " is impossible");
  }
  if (options.timeout.count() <= 0) return Error(Code::kInvalidInput, "timeout is not positive");
  IgnoreBrokenPipes();
  RINGWARD_ASSIGN(std::unique_ptr<Mesh> mesh, Mesh::Connect(options));
  return std::unique_ptr<Communicator>(
      std::make_unique<GlooCommunicator>(options, std::move(mesh)));
}

RawAllReduce RawGlooAllReduce(Communicator& communicator, DType dtype, ReduceOp op) {
  auto* engine = dynamic_cast<GlooCommunicator*>(&communicator);
  if (engine == nullptr || op == ReduceOp::kAverage) return nullptr;
  switch (dtype) {
    case DType::kFloat16:
      return RawOf<::gloo::float16>(engine->context(), op);
    case DType::kBFloat16:
      return nullptr;
    case DType::kFloat32:
      return RawOf<float>(engine->context(), op);
    case DType::kFloat64:
      return RawOf<double>(engine->context(), op);
    case DType::kInt32:
      return RawOf<std::int32_t>(engine->context(), op);
    case DType::kInt64:
      return RawOf<std::int64_t>(engine->context(), op);
  }
  return nullptr;
}

}  // namespace ringward::comm
