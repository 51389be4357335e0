#pragma once

#include <cstddef>
#include <cstdint>

#include "base/options.h"
#include "comm/communicator.h"

namespace ringward::rank {

/// What `ringward bench allreduce` measures; the front hands it to the ranks as flags.
struct AllReduceBenchOptions {
  std::int64_t begin = 8;         ///< bytes of the smallest buffer, at least one element
  std::int64_t end = 64LL << 20;  ///< bytes of the largest; sizes are begin, begin * factor, ...
  int factor = 2;                 ///< at least 2
  comm::DType dtype = comm::DType::kFloat32;
  comm::ReduceOp op = comm::ReduceOp::kSum;
  int blocks = 15;    ///< timed blocks of either kind, alternating
  int block_ms = 20;  ///< how long a block runs at least
};

/// Adds them to `table`, which may live on either side.
void AddAllReduceBenchOptions(OptionTable& table, AllReduceBenchOptions& options);

}  // namespace ringward::rank
