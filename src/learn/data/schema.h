#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learn/data/options.h"

namespace ringward::learn {

enum class Role { kInput, kLabel, kId, kTime, kDrop };

inline constexpr std::size_t kNoSlot = static_cast<std::size_t>(-1);

/// One column of the files being read.
struct Column {
  std::string name;  ///< from the header, else its number from 1
  Role role = Role::kInput;
  std::size_t slot = kNoSlot;  ///< its place in a Block's rows; kNoSlot when dropped
};

/// The columns of the files, in their order. All files of one reader share it.
struct Schema {
  std::vector<Column> columns;
  bool named = false;     ///< names came from a header
  std::size_t slots = 0;  ///< columns that are not dropped
  /// Columns of a row as the file has them: without the label array that an .npz holds beside `X`.
  std::size_t file_columns = 0;
  std::string file;  ///< the first file, for messages

  /// The column called `name`, or null.
  const Column* Find(std::string_view name) const;
  /// The only column with `role` (label, time), or null.
  const Column* WithRole(Role role) const;
};

/// Gives each column its role and slot. `extra_label`, where given, is the name of a label array
/// beside the rows (`y`, `test_label`); it is appended as the last column, and is the label unless
/// `options.label` names another. Unknown and doubly used names are kInvalidInput, naming the
/// column, the file and the nearest names there are; so are duplicate header names.
Result<Schema> MakeSchema(std::vector<std::string> names, bool named, const std::string& file,
                          const DataOptions& options,
                          const std::optional<std::string>& extra_label = std::nullopt);

/// kInvalidInput naming `file` and the first column that differs from `schema`.
Status CheckSameColumns(const Schema& schema, const std::vector<std::string>& names, bool named,
                        const std::string& file);

/// "name" in quotes, shortened to 40 characters, control characters as \xNN: safe in one line.
std::string Quoted(std::string_view text);

/// `; nearest: "a", "b"` for the at most three names nearest to `name` by edit distance; empty
/// where nothing is near.
std::string NearestNames(std::string_view name, const std::vector<std::string>& names);

}  // namespace ringward::learn
