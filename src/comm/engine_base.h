#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "comm/async_worker.h"
#include "comm/communicator.h"

namespace ringward::comm {

/// A communicator's deadline when neither the call nor the options name one.
inline constexpr std::chrono::milliseconds kDefaultTimeout{30'000};

/// What every engine shares: checks of arguments, sequence numbers, the observer, the sticky first
/// error, worlds of one rank, empty buffers and asynchronous calls. An engine adds the collectives
/// proper, which see only checked arguments, size() > 1 and at least one element.
///
/// An engine's destructor calls StopWorker() first, while its own members are still alive.
class EngineBase : public Communicator {
 public:
  EngineBase(int rank, int size, std::chrono::milliseconds default_timeout);

  int rank() const final { return rank_; }
  int size() const final { return size_; }
  Status AllReduce(Buffer data, ReduceOp op, const CallOptions& options) final;
  Result<std::unique_ptr<Handle>> AllReduceAsync(Buffer data, ReduceOp op,
                                                 const CallOptions& options) final;
  Status AllGatherV(Buffer send, Buffer receive, std::span<const std::size_t> counts,
                    const CallOptions& options) final;
  Status Broadcast(Buffer data, int root, const CallOptions& options) final;
  Status ReduceScatter(Buffer send, Buffer receive, std::span<const std::size_t> counts,
                       ReduceOp op, const CallOptions& options) final;
  Status Barrier(const CallOptions& options) final;
  void Abort(const std::string& reason) final;
  void SetObserver(CallObserver* observer) final { observer_ = observer; }

 protected:
  /// One collective under way.
  struct Call {
    const char* operation;
    std::uint64_t sequence;
    std::uint64_t step;
    std::chrono::milliseconds timeout;  ///< > 0, end to end
  };

  virtual Status DoAllReduce(Buffer data, ReduceOp op, const Call& call) = 0;
  virtual Status DoAllGatherV(Buffer send, Buffer receive, std::span<const std::size_t> counts,
                              const Call& call) = 0;
  virtual Status DoBroadcast(Buffer data, int root, const Call& call) = 0;
  virtual Status DoReduceScatter(Buffer send, Buffer receive, std::span<const std::size_t> counts,
                                 ReduceOp op, const Call& call) = 0;
  virtual Status DoBarrier(const Call& call) = 0;

  /// This rank has failed with `error` (its own or Abort's): tell the peers. Called once, on any
  /// thread, never while the engine holds a lock of its own.
  virtual void OnBroken(const Error& error) = 0;

  /// Starts an all-reduce; the default runs DoAllReduce on a thread of this communicator.
  /// Engines that override it bracket the work with Enter() and Leave().
  virtual std::unique_ptr<Handle> StartAllReduce(Buffer data, ReduceOp op, const Call& call);

  /// Tells the observer of the entry.
  void Enter(const Call& call, std::size_t bytes);
  /// Tells the observer of the exit, keeps the first error, and returns it with the call's name.
  Status Leave(const Call& call, Status status);
  /// An asynchronous call has ended; the next may start.
  void AsyncEnded() { async_under_way_ = false; }
  void StopWorker() { worker_.reset(); }
  bool broken() const { return is_broken_.load(std::memory_order_acquire); }

 private:
  class WorkerHandle;
  class ReadyHandle;

  Status Admit(Status arguments);
  Call NextCall(const char* operation, const CallOptions& options);
  void Break(const Error& error);
  Error FirstError() const;
  Status RunAllReduce(Buffer data, ReduceOp op, const Call& call);
  template <typename Work>
  Status Run(const Call& call, std::size_t bytes, Work&& work);

  const int rank_;
  const int size_;
  const std::chrono::milliseconds default_timeout_;
  std::uint64_t next_sequence_ = 0;
  bool async_under_way_ = false;
  CallObserver* observer_ = nullptr;
  std::atomic<bool> is_broken_{false};
  mutable std::mutex error_mutex_;
  std::optional<Error> error_;  // the first; guarded by error_mutex_
  std::unique_ptr<AsyncWorker> worker_;
};

/// What a peer reports when told of rank `rank`'s `error`: timeouts and lost peers keep their code,
/// anything else is kAborted.
Error AsSeenByPeer(int rank, const Error& error);

}  // namespace ringward::comm
