#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "comm/communicator.h"
#include "comm/raw_allreduce.h"
#include "ringward-rank/bench_allreduce_options.h"

namespace ringward::rank {

/// One size's figures, on rank 0. Times are of one call, over the blocks.
struct AllReduceBenchLine {
  std::size_t bytes = 0;
  std::size_t count = 0;
  double us_median = 0;
  double us_min = 0;
  double raw_us_median = 0;  ///< 0 = there is no raw counterpart
  double raw_us_min = 0;
  double ratio = 0;        ///< median over neighbouring blocks of ours / raw; 0 as above
  std::int64_t wrong = 0;  ///< elements that were not the reduction, over all ranks
};

/// Algorithm bandwidth: bytes reduced per time, in GB/s (10^9).
double AlgorithmBandwidth(const AllReduceBenchLine& line);
/// Bus bandwidth: what a ring would have to carry per rank, 2 (P-1)/P of that.
double BusBandwidth(const AllReduceBenchLine& line, int ranks);

/// Measures the communicator's all-reduce at each size, and the library's own (`raw`, may be null)
/// in alternating blocks of calls, so that both see the same noise. Every result is checked once
/// per size before the timing. All ranks call it with the same options; `report` is called on rank
/// 0 after each size. Errors: those of the communicator, kResource (no memory for a buffer).
Status RunBenchAllReduce(comm::Communicator& communicator, const AllReduceBenchOptions& options,
                         const comm::RawAllReduce& raw,
                         const std::function<void(const AllReduceBenchLine&)>& report);

}  // namespace ringward::rank
