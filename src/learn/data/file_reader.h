#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/byte_source.h"
#include "io/random_access.h"
#include "learn/data/block.h"
#include "learn/data/options.h"
#include "learn/data/reader.h"
#include "learn/data/schema.h"

namespace ringward::learn {

/// The columns of one file, before roles are given.
struct FileColumns {
  std::vector<std::string> names;  ///< from the header, else "1", "2", ...
  bool named = false;
  std::optional<std::string> extra_label;  ///< a label array beside the rows (NPZ)
};

/// Reads the rows of one file of any format. Not safe for concurrent use.
class FileReader {
 public:
  virtual ~FileReader() = default;
  virtual const FileColumns& columns() const = 0;
  /// Fills rows, numbers, texts, lines and first_file_row of an empty `block`; false at the end.
  /// REQUIRES: `schema` is the same in all calls and describes columns().
  virtual Result<bool> Next(const Schema& schema, Block& block) = 0;
};

/// CSV and its kin. Reads the first one or two records.
Result<std::unique_ptr<FileReader>> OpenCsv(std::unique_ptr<io::ByteSource> source,
                                            const DataOptions& options,
                                            const std::vector<std::string>& expected);
/// One .npy array, read from its first byte on.
Result<std::unique_ptr<FileReader>> OpenNpy(std::unique_ptr<io::ByteSource> source);
/// An archive of arrays.
Result<std::unique_ptr<FileReader>> OpenNpz(std::shared_ptr<const io::RandomAccess> file,
                                            Purpose purpose);

/// "1" .. "count".
std::vector<std::string> NumberedNames(std::size_t count);

/// Rows of a block at most, for rows of `slots` cells.
std::size_t BlockRowsMax(std::size_t slots);

/// Columns of a file at most.
inline constexpr std::size_t kColumnsMax = 1'000'000;

}  // namespace ringward::learn
