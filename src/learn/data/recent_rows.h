#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "learn/data/block.h"

namespace ringward::learn {

/// The rows as read that the windows of the current block reach back to. With window 1 it keeps
/// nothing. Not safe for concurrent use.
class RecentRows {
 public:
  explicit RecentRows(int window) : reach_(static_cast<std::size_t>(window) - 1) {}

  /// The next block of the stream is the current one. REQUIRES: it lives until the next call.
  void Add(const Block& block);

  struct Place {
    const Block* block = nullptr;
    std::size_t row = 0;
  };
  /// The row `rows_ago` before row `row` of the current block; before the first row of a file
  /// stands that row again. REQUIRES: rows_ago < window.
  Place Find(std::size_t row, std::size_t rows_ago) const;

 private:
  std::size_t reach_;
  const Block* current_ = nullptr;
  std::deque<Block> kept_;  ///< of the current file, in order, up to the current block
};

}  // namespace ringward::learn
