#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace ringward::comm {

enum class DType { kFloat16, kBFloat16, kFloat32, kFloat64, kInt32, kInt64 };

/// Bytes of one element: 2, 4 or 8.
std::size_t SizeOf(DType dtype);

/// The name in benchmarks, messages and flags: "float16", "bfloat16", "float", "double", "int32",
/// "int64".
const char* NameOf(DType dtype);

/// kMin and kMax give NaN where any rank holds NaN (MPI and Horovod do not).
/// kAverage multiplies by 1/size before the sum for half types, so that it cannot overflow, and
/// divides by size after it for the others; integer averages truncate towards zero.
/// Integer sums and products wrap. Half types are combined in float32 and rounded after each hop.
enum class ReduceOp { kSum, kAverage, kMin, kMax, kProduct };

/// "sum", "avg", "min", "max" or "prod".
const char* NameOf(ReduceOp op);

/// A view of typed memory owned by the caller, alive until the call (or its handle) is done.
struct Buffer {
  void* data = nullptr;
  std::size_t count = 0;  ///< elements; may be 0 (then data may be null)
  DType dtype = DType::kFloat32;
};

inline Buffer AsBuffer(std::span<float> s) { return {s.data(), s.size(), DType::kFloat32}; }
inline Buffer AsBuffer(std::span<double> s) { return {s.data(), s.size(), DType::kFloat64}; }
inline Buffer AsBuffer(std::span<std::int32_t> s) { return {s.data(), s.size(), DType::kInt32}; }
inline Buffer AsBuffer(std::span<std::int64_t> s) { return {s.data(), s.size(), DType::kInt64}; }

/// One call's settings; nothing is read from globals or the environment.
struct CallOptions {
  std::chrono::milliseconds timeout{0};  ///< end to end; 0 = the communicator's default
  std::uint64_t step = 0;                ///< names the call in errors and traces
};

/// An operation under way. Destroying an unfinished handle waits for it. A handle must not outlive
/// its communicator, and belongs to the same one thread.
class Handle {
 public:
  virtual ~Handle() = default;
  virtual bool Done() = 0;    ///< never blocks
  virtual Status Wait() = 0;  ///< blocks until done or the call's deadline; idempotent
};

/// Told of every collective: entry before, exit after. Called on the thread that does the work;
/// must not block, throw or call the communicator.
class CallObserver {
 public:
  virtual ~CallObserver() = default;
  /// `sequence` counts this communicator's collectives from 0; equal on all ranks for one call.
  virtual void OnEnter(const char* operation, std::uint64_t sequence, std::size_t bytes) = 0;
  virtual void OnExit(const char* operation, std::uint64_t sequence, bool ok) = 0;
};

/// A fixed group of `size()` ranks, and the collectives among them.
///
/// Every rank makes the same calls in the same order. One thread at a time. After any error the
/// communicator is broken: every later call fails at once with the same code; rebuild it.
/// Failures: kTimeout (deadline passed), kUnavailable (peer lost), kAborted (another rank failed
/// or called Abort), kInvalidInput (an argument this rank can see is wrong). The first failure of
/// any rank, a wrong argument too, is told to the peers: nobody waits for one who has given up.
/// Reductions leave the same bits on every rank (NaN payloads and signs of zero aside). A call
/// whose buffers are all empty is counted and observed, but synchronises nobody.
/// The `mpi` engine cannot return from a lost peer: there a watchdog ends the process, having
/// named the culprit (see comm/mpi/mpi_communicator.h).
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;  ///< 0 <= rank() < size()
  virtual int size() const = 0;
  virtual const char* engine() const = 0;  ///< "local", "mpi", "gloo"

  /// In place: data[i] becomes op over ranks of data[i]. REQUIRES: equal count and dtype on all.
  virtual Status AllReduce(Buffer data, ReduceOp op, const CallOptions& options = {}) = 0;

  /// Starts AllReduce. At most one operation is under way: any call before Wait() returned (or
  /// Done() was true) is refused with kInvalidInput, and breaks nothing.
  virtual Result<std::unique_ptr<Handle>> AllReduceAsync(Buffer data, ReduceOp op,
                                                         const CallOptions& options = {}) = 0;

  /// Concatenates every rank's `send` in rank order into `receive`. `counts[r]` is what rank r
  /// sends, the same vector on all ranks; send.count == counts[rank()], receive.count == their sum.
  /// `send` may be this rank's own part of `receive`; otherwise the two must not overlap.
  virtual Status AllGatherV(Buffer send, Buffer receive, std::span<const std::size_t> counts,
                            const CallOptions& options = {}) = 0;

  /// Every rank's `data` becomes root's.
  virtual Status Broadcast(Buffer data, int root, const CallOptions& options = {}) = 0;

  /// Reduces `send` over ranks and leaves part rank() in `receive`. `counts[r]` is the length of
  /// part r, the same vector on all ranks; send.count == their sum, receive.count ==
  /// counts[rank()]. `send` keeps its values and must not overlap `receive`.
  virtual Status ReduceScatter(Buffer send, Buffer receive, std::span<const std::size_t> counts,
                               ReduceOp op, const CallOptions& options = {}) = 0;

  /// Returns when every rank has entered.
  virtual Status Barrier(const CallOptions& options = {}) = 0;

  /// Tells the peers why this rank leaves; their calls fail with kAborted and `reason`, and so do
  /// this rank's own later calls. Never blocks for long; may be called while a handle is
  /// unfinished.
  virtual void Abort(const std::string& reason) = 0;

  /// `observer` may be null; it must outlive the communicator. Not while a handle is unfinished.
  virtual void SetObserver(CallObserver* observer) = 0;
};

}  // namespace ringward::comm
