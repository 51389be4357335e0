#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/data/block.h"
#include "learn/data/options.h"
#include "learn/data/schema.h"

namespace ringward::learn {

/// Chooses the arrays of an .npz: training reads `train` where there is one, scoring reads `test`
/// with `test_label`; both read `X` with `y` otherwise, else the only 2-D array there is.
enum class Purpose { kTrain, kScore };

/// Reads the rows of all files of `DataOptions::paths`, one block at a time.
/// Formats are told by content: CSV and the like, NPY, NPZ; gzip and zstd are undone.
/// Not safe for concurrent use.
class RowReader {
 public:
  /// Opens the first file and reads as much as tells its columns. `expected` are column names a
  /// model knows: a first line that holds one of them is a header. To train with normal values but
  /// without a label (`--label`, or a label array) is kInvalidInput.
  static Result<std::unique_ptr<RowReader>> Open(const DataOptions& options, Purpose purpose,
                                                 const std::vector<std::string>& expected = {});
  virtual ~RowReader() = default;

  virtual const Schema& schema() const = 0;
  /// Replaces `block` by the next rows; false at the end. From a pipe, rows are given as soon as
  /// whole lines are there. A block holds rows of one file and at most kBlockCells cells or one
  /// row. Bad input is one error naming file, line and column; a file without any row is an error.
  virtual Result<bool> Next(Block& block) = 0;
};

/// Cells of one block at most: bounds memory to about 8 bytes each plus their texts.
inline constexpr std::size_t kBlockCells = std::size_t{1} << 19;

}  // namespace ringward::learn
