#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "base/result.h"
#include "comm/board.h"
#include "comm/communicator.h"
#include "comm/engine_base.h"
#include "comm/raw_allreduce.h"

namespace ringward::comm {

struct MpiOptions {
  /// Of a call; finishing MPI at the end of the process has the longest one given.
  std::chrono::milliseconds timeout = kDefaultTimeout;
  /// For all ranks to have made this communicator; 0 = timeout.
  std::chrono::milliseconds start_timeout{0};
  /// May be null; else must outlive the communicators. Names the culprits.
  Board* board = nullptr;
  /// The most elements handed to one MPI call, which counts in int; larger buffers go in pieces.
  /// Only tests have a reason to change it. In [1, 2^31).
  std::size_t max_count = std::size_t{1} << 30;
  /// Blocking all-reduces go through memory that the ranks share where all run on one host,
  /// whatever max_count: at no size slower than MPI's own (comm/shared_reduce.h;
  /// docs/decisions/0006). Only tests have a reason to turn it off.
  bool shared_memory = true;
};

/// A communicator over all ranks of MPI_COMM_WORLD, on a duplicate of it. Collective: every rank
/// makes its communicators in the same order. The first call starts MPI (MPI_THREAD_SERIALIZED);
/// it is finished when the process exits, unless a communicator broke and the exit status is not 0:
/// then mpirun is left to see an improper end, which ends the job. Errors: kUnavailable (MPI does
/// not start).
///
/// Open MPI cannot return from a collective whose peer is dead or frozen, nor can a rank that waits
/// in shared memory. So a watchdog thread,
/// armed by one atomic store per call, ends the process with exit code 3 when a call passes its
/// deadline, or when the board tells that a rank has failed while this one waits for it. It first
/// names the culprit on the board, from which the launcher tells the user; mpirun then ends the
/// other ranks. Without a board it cannot name anybody and says on standard error which call got no
/// answer, and peers learn of an Abort() only by the end of the process that called it.
///
/// The deadline of an asynchronous call counts from the first Done() or Wait(): MPI makes progress
/// only inside them.
Result<std::unique_ptr<Communicator>> MakeMpi(const MpiOptions& options = {});

/// MPI_Allreduce on MPI_COMM_WORLD, or null where MPI has no such operation (averages, halves).
/// REQUIRES: MakeMpi() has succeeded.
RawAllReduce RawMpiAllReduce(DType dtype, ReduceOp op);

}  // namespace ringward::comm
