#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "learn/data/block.h"
#include "learn/data/preprocessor.h"

namespace ringward::learn {

/// The bucket of a text: FNV-1a (64 bits, folded) modulo `buckets`; the same on every machine.
int HashBucket(std::string_view text, int buckets);

/// Whether a cell is missing, also where the column's role made the reader keep its text.
bool IsMissingCell(const Block& block, std::size_t row, std::size_t slot);

/// What a cell is called as a level: text as written, a number by its shortest form, so that 1 and
/// 1.0 are one level, or as written where its double does not hold it; empty when missing.
std::string LevelText(const Block& block, std::size_t row, std::size_t slot);

/// Finds the place of a cell among a categorical column's inputs, by its LevelText. Not safe for
/// concurrent use; must not outlive the column.
class CategoryIndex {
 public:
  static constexpr int kMissing = -1;
  static constexpr int kUnseen = -2;
  explicit CategoryIndex(const ColumnModel& column);

  /// REQUIRES: `block` lives until the last Of().
  void StartBlock(const Block& block, std::size_t slot);
  /// Level or bucket of row `row`, or kMissing or kUnseen.
  int Of(std::size_t row) const;

 private:
  int Find(std::string_view text) const;
  int buckets_;
  std::unordered_map<std::string_view, int> levels_;
  const Block* block_ = nullptr;
  std::size_t slot_ = 0;
  std::vector<int> of_code_;  ///< for each text of the block
};

}  // namespace ringward::learn
