#include "comm/mpi/mpi_communicator.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "comm/mpi/mpi_types.h"
#include "comm/mpi/mpi_watchdog.h"
#include "comm/reduce.h"
#include "comm/shared_reduce.h"

namespace ringward::comm {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{50};

/// True once any communicator broke: MPI_Finalize would wait for peers that never come.
std::atomic<bool> any_broken{false};
/// The longest timeout of any communicator, in milliseconds: for MPI_Finalize.
std::atomic<milliseconds::rep> finish_ms{0};

Error FromMpi(int code) {
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return {Code::kUnavailable, "MPI: " + std::string(text.data(), static_cast<std::size_t>(length))};
}

Status Check(int code) {
  if (code == MPI_SUCCESS) [[likely]] {
    return Ok();
  }
  return FromMpi(code);
}

/// Registered with on_exit(): mpirun takes a process that ends without it for a failed one, which
/// is right for one that gave up.
void FinishMpi(int status, void*) {
  int finished = 0;
  MPI_Finalized(&finished);
  if (finished != 0 || (status != 0 && any_broken)) return;
  // Finishing waits for all ranks; a frozen one must not hang the others here either.
  MpiWatchdog watchdog(-1, nullptr, kTick);
  watchdog.Arm(0, milliseconds(finish_ms.load()));
  MPI_Finalize();
  watchdog.Disarm();
}

Status StartMpi() {
  int started = 0;
  MPI_Initialized(&started);
  if (started != 0) return Ok();
  int level = MPI_THREAD_SINGLE;
  RINGWARD_TRY(Check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level)));
  on_exit(FinishMpi, nullptr);
  if (level < MPI_THREAD_SERIALIZED) {
    return Error(Code::kUnavailable, "this MPI cannot be used beside other threads");
  }
  return Ok();
}

char* At(Buffer b, std::size_t begin) {
  return static_cast<char*>(b.data) + begin * SizeOf(b.dtype);
}

std::size_t Before(std::span<const std::size_t> counts, int rank) {
  std::size_t sum = 0;
  for (int r = 0; r < rank; ++r) sum += counts[static_cast<std::size_t>(r)];
  return sum;
}

Buffer Part(Buffer whole, std::span<const std::size_t> counts, int rank) {
  return {At(whole, Before(counts, rank)), counts[static_cast<std::size_t>(rank)], whole.dtype};
}

std::vector<int> Ints(std::span<const std::size_t> counts) {
  std::vector<int> ints;
  for (const std::size_t count : counts) ints.push_back(static_cast<int>(count));
  return ints;
}

std::vector<int> Displacements(std::span<const std::size_t> counts) {
  std::vector<int> before;
  std::size_t sum = 0;
  for (const std::size_t count : counts) {
    before.push_back(static_cast<int>(sum));
    sum += count;
  }
  return before;
}

/// Whether mpirun was told that waiting ranks give up their cores, as the launcher decides it.
bool MpiYields() {
  const char* const set = std::getenv("OMPI_MCA_mpi_yield_when_idle");
  return set != nullptr && std::string_view(set) != "0";
}

/// Memory shared by all ranks; none where they run on several hosts, or cannot see each other.
Result<std::optional<SharedReduce>> ShareMemory(MPI_Comm comm, int rank, int size) {
  std::optional<SharedReduce> shared;
  SharedReduce::Address address;
  if (rank == 0) {
    auto made = SharedReduce::Create(rank, size);
    if (made) shared = std::move(*made);
    if (shared) address = shared->address();
    if (!made) LogDebug("all-reduces go through MPI: " + made.error().what());
  }
  RINGWARD_TRY(Check(MPI_Bcast(&address, sizeof(address), MPI_BYTE, 0, comm)));
  if (rank != 0) {
    auto opened = SharedReduce::Open(address, rank, size);
    if (opened) shared = std::move(*opened);
    if (!opened) LogDebug("all-reduces go through MPI: " + opened.error().what());
  }
  int everywhere = shared ? 1 : 0;
  RINGWARD_TRY(Check(MPI_Allreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_MIN, comm)));
  if (everywhere == 0) return std::optional<SharedReduce>();
  shared->Seal();
  // A rank that left an MPI call early may still owe its peers a message: MPI moves only inside
  // its own calls.
  shared->SetWaiting(MpiYields(), [comm] {
    int ignored = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &ignored, MPI_STATUS_IGNORE);
  });
  return shared;
}

class MpiCommunicator final : public EngineBase {
 public:
  MpiCommunicator(MPI_Comm comm, int rank, int size, std::optional<SharedReduce> shared,
                  const MpiOptions& options)
      : EngineBase(rank, size, options.timeout),
        comm_(comm),
        shared_(std::move(shared)),
        board_(options.board),
        max_count_(options.max_count),
        watchdog_(rank, options.board, kTick) {}
  ~MpiCommunicator() override {
    if (!broken()) MPI_Comm_free(&comm_);  // a broken one may hold unfinished requests
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;
  const char* engine() const override { return "mpi"; }

 private:
  class RequestHandle;

  Status DoAllReduce(Buffer data, ReduceOp op, const Call& call) override {
    return Guarded(call, [&]() -> Status {
      ScaleBefore(op, data, size());
      if (shared_) {
        RINGWARD_TRY(shared_->AllReduce(data, op));
        ScaleAfter(op, data, size());
        return Ok();
      }
      const MPI_Op mpi_op = MpiOpOf(op, data.dtype);
      RINGWARD_TRY(InPieces(data, [&](void* at, int count) {
        return MPI_Allreduce(MPI_IN_PLACE, at, count, MpiTypeOf(data.dtype), mpi_op, comm_);
      }));
      ScaleAfter(op, data, size());
      return Ok();
    });
  }

  Status DoAllGatherV(Buffer send, Buffer receive, std::span<const std::size_t> counts,
                      const Call& call) override {
    return Guarded(call, [&]() -> Status {
      char* own = At(receive, Before(counts, rank()));
      if (receive.count <= max_count_) {
        const void* from = own == send.data ? MPI_IN_PLACE : send.data;
        return Check(MPI_Allgatherv(from, static_cast<int>(send.count), MpiTypeOf(send.dtype),
                                    receive.data, Ints(counts).data(), Displacements(counts).data(),
                                    MpiTypeOf(receive.dtype), comm_));
      }
      if (send.count > 0 && own != send.data) {
        std::memcpy(own, send.data, send.count * SizeOf(send.dtype));
      }
      for (int root = 0; root < size(); ++root) {
        RINGWARD_TRY(BroadcastPieces(Part(receive, counts, root), root));
      }
      return Ok();
    });
  }

  Status DoBroadcast(Buffer data, int root, const Call& call) override {
    return Guarded(call, [&] { return BroadcastPieces(data, root); });
  }

  Status DoReduceScatter(Buffer send, Buffer receive, std::span<const std::size_t> counts,
                         ReduceOp op, const Call& call) override {
    return Guarded(call, [&]() -> Status {
      const Buffer scaled = Scaled(send, op);
      const MPI_Op mpi_op = MpiOpOf(op, send.dtype);
      if (send.count <= max_count_) {
        RINGWARD_TRY(Check(MPI_Reduce_scatter(scaled.data, receive.data, Ints(counts).data(),
                                              MpiTypeOf(send.dtype), mpi_op, comm_)));
      } else {
        for (int root = 0; root < size(); ++root) {
          RINGWARD_TRY(ReducePieces(Part(scaled, counts, root), receive, root, mpi_op));
        }
      }
      ScaleAfter(op, receive, size());
      return Ok();
    });
  }

  Status DoBarrier(const Call& call) override {
    return Guarded(call, [&] { return Check(MPI_Barrier(comm_)); });
  }

  std::unique_ptr<Handle> StartAllReduce(Buffer data, ReduceOp op, const Call& call) override;

  void OnBroken(const Error& error) override {
    any_broken = true;
    if (board_ != nullptr) board_->Fail(rank(), error.what());
  }

  template <typename Work>
  Status Guarded(const Call& call, Work work) {
    watchdog_.Arm(call.sequence, call.timeout);
    Status status = work();
    watchdog_.Disarm();
    return status;
  }

  /// Calls `work(pointer, count)` for the buffer in pieces that fit MPI's int.
  template <typename Work>
  Status InPieces(Buffer data, Work work) const {
    for (std::size_t begin = 0; begin < data.count; begin += max_count_) {
      const auto count = static_cast<int>(std::min(max_count_, data.count - begin));
      RINGWARD_TRY(Check(work(At(data, begin), count)));
    }
    return Ok();
  }

  Status BroadcastPieces(Buffer data, int root) {
    return InPieces(data, [&](void* at, int count) {
      return MPI_Bcast(at, count, MpiTypeOf(data.dtype), root, comm_);
    });
  }

  Status ReducePieces(Buffer from, Buffer to, int root, MPI_Op op) {
    std::size_t done = 0;
    return InPieces(from, [&](void* at, int count) {
      void* target = rank() == root ? At(to, done) : nullptr;
      done += static_cast<std::size_t>(count);
      return MPI_Reduce(at, target, count, MpiTypeOf(from.dtype), op, root, comm_);
    });
  }

  /// `send`, or a copy of it where the average wants its terms scaled.
  Buffer Scaled(Buffer send, ReduceOp op) {
    if (op != ReduceOp::kAverage || SizeOf(send.dtype) != 2) return send;
    const auto* bytes = static_cast<const std::byte*>(send.data);
    scratch_.assign(bytes, bytes + send.count * SizeOf(send.dtype));
    const Buffer copy{scratch_.data(), send.count, send.dtype};
    ScaleBefore(op, copy, size());
    return copy;
  }

  MPI_Comm comm_;
  std::optional<SharedReduce> shared_;  // on all ranks or on none
  Board* const board_;
  const std::size_t max_count_;
  std::vector<std::byte> scratch_;  // keeps its capacity
  MpiWatchdog watchdog_;
};

/// Requests under way; they make progress in Done() and Wait() only.
class MpiCommunicator::RequestHandle final : public Handle {
 public:
  RequestHandle(MpiCommunicator& engine, Buffer data, ReduceOp op, const Call& call)
      : engine_(engine), data_(data), op_(op), call_(call) {
    engine_.Enter(call_, data.count * SizeOf(data.dtype));
    ScaleBefore(op_, data_, engine_.size());
    const MPI_Op mpi_op = MpiOpOf(op, data.dtype);
    started_ = engine_.InPieces(data, [&](void* at, int count) {
      requests_.push_back(MPI_REQUEST_NULL);
      return MPI_Iallreduce(MPI_IN_PLACE, at, count, MpiTypeOf(data.dtype), mpi_op, engine_.comm_,
                            &requests_.back());
    });
  }
  ~RequestHandle() override { (void)Wait(); }
  RequestHandle(const RequestHandle&) = delete;
  RequestHandle& operator=(const RequestHandle&) = delete;

  bool Done() override {
    if (status_ || !Watched()) return true;
    int done = 0;
    Status tested = Check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                                      MPI_STATUSES_IGNORE));
    if (tested && done == 0) return false;
    Finish(std::move(tested));
    return true;
  }

  Status Wait() override {
    if (status_ || !Watched()) return *status_;
    Finish(Check(
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE)));
    return *status_;
  }

 private:
  /// Arms the watchdog on the first look; false (and finished) if the requests never started.
  bool Watched() {
    if (!started_) {
      Finish(started_);
      return false;
    }
    if (!watched_) engine_.watchdog_.Arm(call_.sequence, call_.timeout);
    watched_ = true;
    return true;
  }
  void Finish(Status status) {
    engine_.watchdog_.Disarm();
    if (status) ScaleAfter(op_, data_, engine_.size());
    engine_.AsyncEnded();
    status_ = engine_.Leave(call_, std::move(status));
  }

  MpiCommunicator& engine_;
  const Buffer data_;
  const ReduceOp op_;
  const Call call_;
  std::vector<MPI_Request> requests_;
  Status started_ = Ok();
  bool watched_ = false;
  std::optional<Status> status_;
};

std::unique_ptr<Handle> MpiCommunicator::StartAllReduce(Buffer data, ReduceOp op,
                                                        const Call& call) {
  return std::make_unique<RequestHandle>(*this, data, op, call);
}

}  // namespace

Result<std::unique_ptr<Communicator>> MakeMpi(const MpiOptions& options) {
  if (options.timeout.count() <= 0) return Error(Code::kInvalidInput, "timeout is not positive");
  if (options.max_count < 1 || options.max_count > INT32_MAX) {
    return Error(Code::kInvalidInput, "max_count is outside 1..2^31-1");
  }
  finish_ms = std::max(finish_ms.load(), options.timeout.count());
  RINGWARD_TRY(StartMpi());
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MpiWatchdog watchdog(rank, options.board, kTick);  // duplicating is a collective of its own
  watchdog.Arm(0, options.start_timeout.count() > 0 ? options.start_timeout : options.timeout);
  RINGWARD_TRY(Check(MPI_Comm_dup(MPI_COMM_WORLD, &comm)));
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  std::optional<SharedReduce> shared;
  if (options.shared_memory && size > 1) {
    RINGWARD_ASSIGN(shared, ShareMemory(comm, rank, size));
  }
  watchdog.Disarm();
  return std::unique_ptr<Communicator>(
      std::make_unique<MpiCommunicator>(comm, rank, size, std::move(shared), options));
}

RawAllReduce RawMpiAllReduce(DType dtype, ReduceOp op) {
  if (SizeOf(dtype) == 2 || op == ReduceOp::kAverage) return nullptr;
  MPI_Op mpi_op = MPI_SUM;
  if (op == ReduceOp::kMin) mpi_op = MPI_MIN;
  if (op == ReduceOp::kMax) mpi_op = MPI_MAX;
  if (op == ReduceOp::kProduct) mpi_op = MPI_PROD;
  return [mpi_op, type = MpiTypeOf(dtype)](Buffer data) -> Status {
    if (data.count > INT32_MAX) {
      return Error(Code::kInvalidInput, "MPI_Allreduce takes at most 2147483647 elements");
    }
    return Check(MPI_Allreduce(MPI_IN_PLACE, data.data, static_cast<int>(data.count), type, mpi_op,
                               MPI_COMM_WORLD));
  };
}

}  // namespace ringward::comm
