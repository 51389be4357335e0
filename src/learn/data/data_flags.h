#pragma once

#include "base/options.h"
#include "learn/data/options.h"

namespace ringward::learn {

/// Whether --data must be given.
enum class DataFlag { kRequired, kOptional };

/// Binds the flags that say which data to read and what its columns are. `table` points into
/// `options`.
void AddDataOptions(OptionTable& table, DataOptions& options, DataFlag data = DataFlag::kRequired);

/// The flags of AddDataOptions that tell what columns are made into: for training only, since a
/// model remembers them.
void AddColumnOptions(OptionTable& table, DataOptions& options);

}  // namespace ringward::learn
