#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace ringward::learn {

/// Texts of one column of one block, each stored once and named by a number from 0.
class TextPool {
 public:
  /// The number of `text`, which is added when new.
  std::int32_t Intern(std::string_view text);
  std::string_view At(std::int32_t code) const;
  std::size_t size() const { return ends_.size(); }

 private:
  void Grow();
  std::string bytes_;
  std::vector<std::size_t> ends_;      ///< end of text i in bytes_
  std::vector<std::int32_t> buckets_;  ///< open addressing, power of two, -1 = free
};

/// Cells of one column that are text.
struct TextCells {
  std::vector<std::int32_t> codes;  ///< per row up to the last text; -1 where the cell is none
  TextPool pool;
};

/// Consecutive rows of one file, as read: numbers, texts and missing values are still apart.
/// A number is finite or infinite; a missing value is NaN without a text; a text cell is NaN with
/// a code. Label, id and time columns keep their text as it was written, and so do integers that
/// their number does not hold exactly (LosesDigits).
struct Block {
  std::size_t rows = 0;
  std::size_t slots = 0;
  std::vector<double> numbers;   ///< [rows, slots], row after row
  std::vector<TextCells> texts;  ///< [slots]
  std::uint64_t first_row = 0;   ///< number of its first row over all files, from 0
  std::size_t file_index = 0;    ///< which file, from 0
  std::string file;
  std::vector<std::uint64_t> lines;  ///< first line of each row, from 1; empty for arrays
  std::uint64_t first_file_row = 0;  ///< number of its first row inside its file, from 0

  double Number(std::size_t row, std::size_t slot) const { return numbers[row * slots + slot]; }
  bool IsText(std::size_t row, std::size_t slot) const {
    const auto& codes = texts[slot].codes;
    return row < codes.size() && codes[row] >= 0;
  }
  bool IsMissing(std::size_t row, std::size_t slot) const;
  /// The cell as text: as written, or the shortest form of a number; empty when missing.
  std::string Text(std::size_t row, std::size_t slot) const;
  /// "file:line" or, for arrays, "file: row 17" (from 0): for messages.
  std::string Where(std::size_t row) const;
  void SetText(std::size_t row, std::size_t slot, std::string_view text);
  /// Adds the rows of `next`. REQUIRES: they follow this block's rows in the same file.
  void Append(const Block& next);
};

}  // namespace ringward::learn
