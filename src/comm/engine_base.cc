#include "comm/engine_base.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace ringward::comm {
namespace {

std::size_t BytesOf(Buffer b) { return b.count * SizeOf(b.dtype); }

Error Wrong(std::string what) { return {Code::kInvalidInput, std::move(what)}; }

Status CheckBuffer(const char* name, Buffer b) {
  if (b.count > 0 && b.data == nullptr) {
    return Wrong(std::string(name) + " is null but has " + std::to_string(b.count) + " elements");
  }
  if (b.count > SIZE_MAX / SizeOf(b.dtype) / 2) {
    return Wrong(std::string(name) + " has an impossible count of " + std::to_string(b.count));
  }
  return Ok();
}

Status CheckTimeout(const CallOptions& options) {
  if (options.timeout.count() < 0) return Wrong("timeout is negative");
  return Ok();
}

/// `whole` holds the concatenation of all parts, `part` this rank's.
Status CheckParts(Buffer whole, Buffer part, std::span<const std::size_t> counts, int rank) {
  if (whole.dtype != part.dtype) return Wrong("send and receive differ in type");
  if (part.count != counts[static_cast<std::size_t>(rank)]) {
    return Wrong("counts[" + std::to_string(rank) +
                 "] = " + std::to_string(counts[static_cast<std::size_t>(rank)]) +
                 " but this rank's part has " + std::to_string(part.count) + " elements");
  }
  std::size_t left = whole.count;
  for (const std::size_t c : counts) {
    if (c > left)
      return Wrong("counts add up to more than the buffer's " + std::to_string(whole.count) +
                   " elements");
    left -= c;
  }
  if (left != 0)
    return Wrong("counts add up to less than the buffer's " + std::to_string(whole.count) +
                 " elements");
  return Ok();
}

bool Overlap(Buffer a, Buffer b) {
  const auto* pa = static_cast<const char*>(a.data);
  const auto* pb = static_cast<const char*>(b.data);
  return BytesOf(a) > 0 && BytesOf(b) > 0 && std::less<>{}(pa, pb + BytesOf(b)) &&
         std::less<>{}(pb, pa + BytesOf(a));
}

Status CheckCounts(std::span<const std::size_t> counts, int size) {
  if (counts.size() == static_cast<std::size_t>(size)) return Ok();
  return Wrong("counts has " + std::to_string(counts.size()) + " entries for " +
               std::to_string(size) + " ranks");
}

Status CheckGather(Buffer send, Buffer receive, std::span<const std::size_t> counts, int rank,
                   int size) {
  RINGWARD_TRY(CheckBuffer("send", send));
  RINGWARD_TRY(CheckBuffer("receive", receive));
  RINGWARD_TRY(CheckCounts(counts, size));
  RINGWARD_TRY(CheckParts(receive, send, counts, rank));
  const std::size_t before = std::accumulate(counts.begin(), counts.begin() + rank, std::size_t{0});
  const auto* own = static_cast<const char*>(receive.data) + before * SizeOf(receive.dtype);
  if (Overlap(send, receive) && send.data != own) {
    return Wrong("send overlaps receive elsewhere than at this rank's own part");
  }
  return Ok();
}

Status CheckScatter(Buffer send, Buffer receive, std::span<const std::size_t> counts, int rank,
                    int size) {
  RINGWARD_TRY(CheckBuffer("send", send));
  RINGWARD_TRY(CheckBuffer("receive", receive));
  RINGWARD_TRY(CheckCounts(counts, size));
  RINGWARD_TRY(CheckParts(send, receive, counts, rank));
  if (Overlap(send, receive)) return Wrong("send overlaps receive");
  return Ok();
}

Status CheckRoot(int root, int size) {
  if (root >= 0 && root < size) return Ok();
  return Wrong("root " + std::to_string(root) + " is outside 0.." + std::to_string(size - 1));
}

/// All of `checks` in order; the first failure counts.
template <typename... Check>
Status FirstFailure(Status first, Check... checks) {
  Status status = std::move(first);
  ((status ? void(status = checks()) : void()), ...);
  return status;
}

Status CopyOver(Buffer from, Buffer to) {
  if (from.count > 0 && from.data != to.data) std::memcpy(to.data, from.data, BytesOf(from));
  return Ok();
}

}  // namespace

Error AsSeenByPeer(int rank, const Error& error) {
  const Code code = error.code() == Code::kTimeout || error.code() == Code::kUnavailable
                        ? error.code()
                        : Code::kAborted;
  return {code, "rank " + std::to_string(rank) + " failed first: " + error.what()};
}

/// Runs on the communicator's worker thread.
class EngineBase::WorkerHandle final : public Handle {
 public:
  explicit WorkerHandle(EngineBase& engine) : engine_(engine) {}
  ~WorkerHandle() override { (void)Wait(); }
  bool Done() override {
    if (!status_ && engine_.worker_->Done()) (void)Wait();
    return status_.has_value();
  }
  Status Wait() override {
    if (!status_) {
      status_ = engine_.worker_->Wait();
      engine_.AsyncEnded();
    }
    return *status_;
  }

 private:
  EngineBase& engine_;
  std::optional<Status> status_;
};

/// Was done before it was handed out.
class EngineBase::ReadyHandle final : public Handle {
 public:
  explicit ReadyHandle(Status status) : status_(std::move(status)) {}
  bool Done() override { return true; }
  Status Wait() override { return status_; }

 private:
  Status status_;
};

EngineBase::EngineBase(int rank, int size, std::chrono::milliseconds default_timeout)
    : rank_(rank), size_(size), default_timeout_(default_timeout) {
  RINGWARD_CHECK(size >= 1 && rank >= 0 && rank < size && default_timeout.count() > 0);
}

Status EngineBase::Admit(Status arguments) {
  if (async_under_way_) return Wrong("an asynchronous operation is still under way");
  if (broken()) return FirstError();
  if (!arguments) Break(arguments.error());
  return arguments;
}

EngineBase::Call EngineBase::NextCall(const char* operation, const CallOptions& options) {
  const auto timeout = options.timeout.count() > 0 ? options.timeout : default_timeout_;
  return {operation, next_sequence_++, options.step, timeout};
}

void EngineBase::Break(const Error& error) {
  {
    const std::lock_guard lock(error_mutex_);
    if (error_) return;
    error_ = error;
    is_broken_.store(true, std::memory_order_release);
  }
  OnBroken(error);
}

Error EngineBase::FirstError() const {
  const std::lock_guard lock(error_mutex_);
  return *error_;
}

void EngineBase::Enter(const Call& call, std::size_t bytes) {
  if (observer_ != nullptr) observer_->OnEnter(call.operation, call.sequence, bytes);
}

Status EngineBase::Leave(const Call& call, Status status) {
  if (observer_ != nullptr) observer_->OnExit(call.operation, call.sequence, bool(status));
  if (status) [[likely]]
    return status;
  Error error = std::move(status).error().While(
      std::string(call.operation) + " " + std::to_string(call.sequence) + " of step " +
      std::to_string(call.step) + " on rank " + std::to_string(rank_));
  Break(error);
  return error;
}

template <typename Work>
Status EngineBase::Run(const Call& call, std::size_t bytes, Work&& work) {
  Enter(call, bytes);
  return Leave(call, work());
}

Status EngineBase::RunAllReduce(Buffer data, ReduceOp op, const Call& call) {
  return Run(call, BytesOf(data), [&]() -> Status {
    if (data.count == 0 || size_ == 1) return Ok();
    return DoAllReduce(data, op, call);
  });
}

Status EngineBase::AllReduce(Buffer data, ReduceOp op, const CallOptions& options) {
  RINGWARD_TRY(
      Admit(FirstFailure(CheckTimeout(options), [&] { return CheckBuffer("data", data); })));
  return RunAllReduce(data, op, NextCall("allreduce", options));
}

Result<std::unique_ptr<Handle>> EngineBase::AllReduceAsync(Buffer data, ReduceOp op,
                                                           const CallOptions& options) {
  RINGWARD_TRY(
      Admit(FirstFailure(CheckTimeout(options), [&] { return CheckBuffer("data", data); })));
  const Call call = NextCall("allreduce", options);
  if (data.count == 0 || size_ == 1) {
    return std::unique_ptr<Handle>(std::make_unique<ReadyHandle>(RunAllReduce(data, op, call)));
  }
  async_under_way_ = true;
  return StartAllReduce(data, op, call);
}

std::unique_ptr<Handle> EngineBase::StartAllReduce(Buffer data, ReduceOp op, const Call& call) {
  if (!worker_) worker_ = std::make_unique<AsyncWorker>();
  worker_->Start([this, data, op, call] { return RunAllReduce(data, op, call); });
  return std::make_unique<WorkerHandle>(*this);
}

Status EngineBase::AllGatherV(Buffer send, Buffer receive, std::span<const std::size_t> counts,
                              const CallOptions& options) {
  RINGWARD_TRY(Admit(FirstFailure(
      CheckTimeout(options), [&] { return CheckGather(send, receive, counts, rank_, size_); })));
  const Call call = NextCall("allgather", options);
  return Run(call, BytesOf(receive), [&]() -> Status {
    if (receive.count == 0) return Ok();
    return size_ == 1 ? CopyOver(send, receive) : DoAllGatherV(send, receive, counts, call);
  });
}

Status EngineBase::Broadcast(Buffer data, int root, const CallOptions& options) {
  RINGWARD_TRY(Admit(FirstFailure(
      CheckTimeout(options), [&] { return CheckBuffer("data", data); },
      [&] { return CheckRoot(root, size_); })));
  const Call call = NextCall("broadcast", options);
  return Run(call, BytesOf(data), [&]() -> Status {
    if (data.count == 0 || size_ == 1) return Ok();
    return DoBroadcast(data, root, call);
  });
}

Status EngineBase::ReduceScatter(Buffer send, Buffer receive, std::span<const std::size_t> counts,
                                 ReduceOp op, const CallOptions& options) {
  RINGWARD_TRY(Admit(FirstFailure(
      CheckTimeout(options), [&] { return CheckScatter(send, receive, counts, rank_, size_); })));
  const Call call = NextCall("reducescatter", options);
  return Run(call, BytesOf(send), [&]() -> Status {
    if (send.count == 0) return Ok();
    return size_ == 1 ? CopyOver(send, receive) : DoReduceScatter(send, receive, counts, op, call);
  });
}

Status EngineBase::Barrier(const CallOptions& options) {
  RINGWARD_TRY(Admit(CheckTimeout(options)));
  const Call call = NextCall("barrier", options);
  return Run(call, 0, [&]() -> Status { return size_ == 1 ? Ok() : DoBarrier(call); });
}

void EngineBase::Abort(const std::string& reason) { Break(Error(Code::kAborted, reason)); }

}  // namespace ringward::comm
