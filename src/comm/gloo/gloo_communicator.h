#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "comm/board.h"
#include "comm/communicator.h"
#include "comm/engine_base.h"
#include "comm/raw_allreduce.h"

namespace ringward::comm {

struct GlooOptions {
  int rank = 0;
  int size = 1;
  std::string store_address = "127.0.0.1";  ///< of the job's StoreServer
  std::uint16_t store_port = 0;
  std::string job;
  std::uint64_t generation = 0;            ///< grows each time the group is formed anew
  std::string bind_address = "127.0.0.1";  ///< this rank's own, on which peers reach it
  std::chrono::milliseconds timeout = kDefaultTimeout;  ///< of each call
  /// Of the rendezvous: ranks may start far apart on a busy machine. 0 = `timeout`.
  std::chrono::milliseconds start_timeout{0};
  /// May be null; else must outlive the communicator. Errors then name the suspect.
  const Board* board = nullptr;
};

/// Joins the group over TCP with Gloo: rendezvous in the store, a connection to each peer, and a
/// barrier, all within the deadline. Errors: kInvalidInput (size, address, job), kTimeout (a peer
/// never came), kUnavailable (store or peer lost), kAborted (a peer failed first).
///
/// All-reduce is Gloo's ring: 2(P-1)/P of the bytes are sent and received per rank, in 2(P-1)
/// steps. Reduce-scatter is an all-reduce of a copy, of which this rank keeps its part: Gloo's own
/// wants powers of two. One all-reduce can be under way on a thread of this communicator.
///
/// A rank that fails leaves word in the store and then cuts its connections, so that peers wake at
/// once and know why. The deadline holds end to end while a rank waits for others to arrive; Gloo
/// applies it anew to every segment in transfer, so a peer that stops in the middle of a transfer
/// is noticed by one deadline after the last segment that came through.
///
/// Gloo writes to connections that peers may have closed: SIGPIPE becomes ignored in the whole
/// process, unless it already has a handler. Gloo ends the process if ranks pass different counts,
/// and its data ports take the first connection they get: keep them on a trusted network.
Result<std::unique_ptr<Communicator>> MakeGloo(const GlooOptions& options);

/// gloo::allreduce with Gloo's own arithmetic on the connections of `communicator`, which MakeGloo
/// made and which must outlive it; null where Gloo has no such operation (averages, bfloat16).
RawAllReduce RawGlooAllReduce(Communicator& communicator, DType dtype, ReduceOp op);

}  // namespace ringward::comm
