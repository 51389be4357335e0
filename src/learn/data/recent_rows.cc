#include "learn/data/recent_rows.h"

#include <algorithm>

namespace ringward::learn {
namespace {

/// A slow pipe gives many tiny blocks; joined up to this many rows they cost little each.
constexpr std::size_t kKeptBlockRowsMax = 1024;

std::uint64_t EndOf(const Block& block) { return block.first_row + block.rows; }

}  // namespace

void RecentRows::Add(const Block& block) {
  current_ = &block;
  if (reach_ == 0) return;
  if (!kept_.empty() && kept_.back().file_index != block.file_index) kept_.clear();
  while (!kept_.empty() && EndOf(kept_.front()) + reach_ <= block.first_row) kept_.pop_front();
  if (!kept_.empty() && kept_.back().rows + block.rows <= kKeptBlockRowsMax) {
    kept_.back().Append(block);
  } else {
    kept_.push_back(block);
  }
}

RecentRows::Place RecentRows::Find(std::size_t row, std::size_t rows_ago) const {
  RINGWARD_CHECK(current_ != nullptr && rows_ago <= reach_);
  const std::uint64_t in_file = current_->first_file_row + row;
  const std::uint64_t back = std::min<std::uint64_t>(rows_ago, in_file);
  if (back <= row) return {current_, row - static_cast<std::size_t>(back)};
  const std::uint64_t wanted = current_->first_row + row - back;
  const auto at =
      std::upper_bound(kept_.begin(), kept_.end(), wanted,
                       [](std::uint64_t number, const Block& b) { return number < EndOf(b); });
  RINGWARD_CHECK(at != kept_.end() && wanted >= at->first_row);
  return {&*at, static_cast<std::size_t>(wanted - at->first_row)};
}

}  // namespace ringward::learn
