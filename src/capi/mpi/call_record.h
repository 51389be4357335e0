#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "capi/ringward_guest.h"
#include "capi/step_finder.h"

namespace ringward::capi {

/// Collectives as a watcher names them.
enum class Operation : std::uint8_t {
  kAllgather,
  kAllreduce,
  kAlltoall,
  kBarrier,
  kBroadcast,
  kGather,
  kReduce,
  kReduceScatter,
  kScan,
  kScatter,
  kCount,
};

/// What the preloaded library keeps of a process: its recorder, where its steps are, and which
/// collectives are under way. Constant-initialised: it is there before any constructor runs.
///
/// Threads: calls of MPI may come from any; where two meet, the later one passes unrecorded.
/// Nothing here but Open and Close allocates, locks or calls the system.
class CallRecord {
 public:
  /// After MPI_Init: opens the recorder, unless the program is linked with one of its own.
  void Open();
  /// Before MPI_Finalize.
  void Close();

  /// The number of a collective that is about to begin; 0 where it is not recorded: `comm` has not
  /// all ranks, or another thread is here. `bytes` are equal on all ranks, or 0.
  std::uint64_t Enter(Operation operation, MPI_Comm comm, std::int64_t bytes, bool overlapped);
  /// It has ended, and a step may have.
  void Exit(std::uint64_t number, bool ok);
  /// An overlapped one has begun: it ends when its request does.
  void Keep(std::uint64_t number, MPI_Request request);
  bool any_kept() const { return kept_count_.load(std::memory_order_relaxed) > 0; }
  /// A call has ended that may have ended the request; MPI then sets its handle to null.
  void EndOf(MPI_Request before, MPI_Request after, bool ok);

  /// Nanoseconds on the clock; 0 where nothing is recorded.
  std::int64_t Now() const;
  /// Since `begin` (from Now()) others were waited for, outside collectives of all ranks.
  void Waited(std::int64_t begin);

 private:
  static constexpr std::size_t kUnderWay = 256;  // the recorder's limit
  struct Kept {
    MPI_Request request = nullptr;
    std::uint64_t number = 0;
  };
  class Turn;

  bool OfAllRanks(MPI_Comm comm) const;

  rw_guest* guest_ = nullptr;
  int world_ = 0;
  std::atomic_flag busy_{};
  std::uint64_t next_ = 1;
  std::uint64_t steps_ = 0;
  StepFinder finder_{};
  std::uint64_t kinds_[kUnderWay] = {};  ///< by number, modulo
  Kept kept_[kUnderWay] = {};
  std::atomic<std::size_t> kept_count_{0};
  std::int32_t ids_[static_cast<std::size_t>(Operation::kCount)] = {};
};

}  // namespace ringward::capi
