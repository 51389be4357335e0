#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "comm/communicator.h"
#include "learn/data/dataset.h"
#include "learn/train/indicators.h"

namespace ringward::learn {

/// The training rows as every rank holds them.
struct SharedRows {
  WindowedRows data;
  std::vector<std::uint32_t> train;   ///< rows to train on, ascending
  std::vector<Indicator> indicators;  ///< among data.inputs()
};

/// Gives every rank a copy of rank 0's rows, so that only rank 0 reads files or standard input.
/// `set` is null on the other ranks. Collective; `first` are the options of its first call, in
/// which the other ranks may wait for rank 0 to read. kInvalidInput for more than 2^32 - 1 rows.
Result<SharedRows> ShareRows(comm::Communicator& comm, const TrainingSet* set,
                             const comm::CallOptions& first = {});

}  // namespace ringward::learn
