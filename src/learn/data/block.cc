#include "learn/data/block.h"

#include <cmath>
#include <functional>
#include <limits>

#include "learn/data/number.h"

namespace ringward::learn {

std::string_view TextPool::At(std::int32_t code) const {
  const auto i = static_cast<std::size_t>(code);
  RINGWARD_CHECK(code >= 0 && i < ends_.size());
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(bytes_).substr(begin, ends_[i] - begin);
}

void TextPool::Grow() {
  const std::size_t size = buckets_.empty() ? 16 : buckets_.size() * 2;
  buckets_.assign(size, -1);
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    const auto code = static_cast<std::int32_t>(i);
    std::size_t at = std::hash<std::string_view>()(At(code)) & (size - 1);
    while (buckets_[at] >= 0) at = (at + 1) & (size - 1);
    buckets_[at] = code;
  }
}

std::int32_t TextPool::Intern(std::string_view text) {
  if ((ends_.size() + 1) * 2 > buckets_.size()) Grow();
  const std::size_t mask = buckets_.size() - 1;
  std::size_t at = std::hash<std::string_view>()(text) & mask;
  for (; buckets_[at] >= 0; at = (at + 1) & mask) {
    if (At(buckets_[at]) == text) return buckets_[at];
  }
  RINGWARD_CHECK(ends_.size() < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()));
  bytes_.append(text);
  ends_.push_back(bytes_.size());
  return buckets_[at] = static_cast<std::int32_t>(ends_.size() - 1);
}

bool Block::IsMissing(std::size_t row, std::size_t slot) const {
  return std::isnan(Number(row, slot)) && !IsText(row, slot);
}

std::string Block::Text(std::size_t row, std::size_t slot) const {
  if (IsText(row, slot)) return std::string(texts[slot].pool.At(texts[slot].codes[row]));
  const double number = Number(row, slot);
  return std::isnan(number) ? "" : FormatNumber(number);
}

std::string Block::Where(std::size_t row) const {
  if (!lines.empty()) return file + ":" + std::to_string(lines[row]);
  return file + ": row " + std::to_string(first_file_row + row);
}

void Block::SetText(std::size_t row, std::size_t slot, std::string_view text) {
  TextCells& cells = texts[slot];
  if (cells.codes.size() <= row) cells.codes.resize(row + 1, -1);
  cells.codes[row] = cells.pool.Intern(text);
}

void Block::Append(const Block& next) {
  RINGWARD_CHECK(next.slots == slots && next.first_row == first_row + rows);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const TextCells& from = next.texts[slot];
    for (std::size_t r = 0; r < from.codes.size(); ++r) {
      if (from.codes[r] >= 0) SetText(rows + r, slot, from.pool.At(from.codes[r]));
    }
  }
  numbers.insert(numbers.end(), next.numbers.begin(), next.numbers.end());
  lines.insert(lines.end(), next.lines.begin(), next.lines.end());
  rows += next.rows;
}

}  // namespace ringward::learn
