#include "learn/data/category.h"

#include <cmath>

#include "learn/data/number.h"

namespace ringward::learn {

int HashBucket(std::string_view text, int buckets) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  hash ^= hash >> 32;
  return static_cast<int>(hash % static_cast<std::uint64_t>(buckets));
}

bool IsMissingCell(const Block& block, std::size_t row, std::size_t slot) {
  if (!std::isnan(block.Number(row, slot))) return false;
  if (!block.IsText(row, slot)) return true;
  double ignored = 0;
  const TextCells& cells = block.texts[slot];
  return ParseCell(cells.pool.At(cells.codes[row]), ignored) == CellKind::kMissing;
}

std::string LevelText(const Block& block, std::size_t row, std::size_t slot) {
  const double number = block.Number(row, slot);
  if (std::isnan(number)) return block.Text(row, slot);
  if (block.IsText(row, slot)) {
    const TextCells& cells = block.texts[slot];
    const std::string_view text = cells.pool.At(cells.codes[row]);
    if (LosesDigits(text, number)) return IntegerDigits(text);
  }
  return FormatNumber(number);
}

CategoryIndex::CategoryIndex(const ColumnModel& column) : buckets_(column.buckets) {
  for (std::size_t i = 0; i < column.levels.size(); ++i) {
    levels_.emplace(column.levels[i], static_cast<int>(i));
  }
}

int CategoryIndex::Find(std::string_view text) const {
  if (buckets_ > 0) return HashBucket(text, buckets_);
  const auto it = levels_.find(text);
  return it == levels_.end() ? kUnseen : it->second;
}

void CategoryIndex::StartBlock(const Block& block, std::size_t slot) {
  block_ = &block;
  slot_ = slot;
  const TextPool& pool = block.texts[slot].pool;
  of_code_.resize(pool.size());
  double number = 0;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    const std::string_view text = pool.At(static_cast<std::int32_t>(i));
    const CellKind kind = ParseCell(text, number);
    const bool by_value = kind == CellKind::kNumber && !LosesDigits(text, number);
    of_code_[i] = kind == CellKind::kMissing
                      ? kMissing
                      : Find(by_value ? FormatNumber(number) : std::string(text));
  }
}

int CategoryIndex::Of(std::size_t row) const {
  if (block_->IsText(row, slot_)) {
    return of_code_[static_cast<std::size_t>(block_->texts[slot_].codes[row])];
  }
  const double number = block_->Number(row, slot_);
  return std::isnan(number) ? kMissing : Find(FormatNumber(number));
}

}  // namespace ringward::learn
