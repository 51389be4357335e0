#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "learn/data/block.h"
#include "learn/data/reader.h"
#include "learn/data/schema.h"

namespace ringward::learn {

/// All rows of the files, as read.
struct Table {
  Schema schema;
  std::vector<Block> blocks;  ///< in order; row numbers of block i+1 follow those of block i
  std::size_t rows = 0;
};

/// Reads everything that `options.paths` names.
Result<Table> LoadTable(const DataOptions& options, Purpose purpose);

}  // namespace ringward::learn
