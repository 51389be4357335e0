#include "recording/rank_ranges.h"

#include <charconv>

#include "recording/schema.h"

namespace ringward::recording {
namespace {

/// Takes `word` from the front of `text`, if it is there.
bool Take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

bool TakeNumber(std::string_view& text, std::int32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

std::string RangesOf(std::span<const std::int32_t> ranks) {
  std::string text = "[";
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] - 1 == ranks[last]) ++last;
    if (i > 0) text += ',';
    text += '[' + std::to_string(ranks[i]) + ',' + std::to_string(ranks[last]) + ']';
    i = last + 1;
  }
  return text + "]";
}

bool RanksOf(std::string_view text, std::vector<std::int32_t>& ranks) {
  ranks.clear();
  if (!Take(text, "[")) return false;
  if (text == "]") return true;
  do {
    std::int32_t first = 0;
    std::int32_t last = 0;
    if (!Take(text, "[") || !TakeNumber(text, first) || !Take(text, ",") ||
        !TakeNumber(text, last) || !Take(text, "]") || last < first) {
      return false;
    }
    if (static_cast<std::size_t>(last - first) >= kRanksMax - ranks.size()) return false;
    for (std::int32_t rank = first; rank < last; ++rank) ranks.push_back(rank);
    ranks.push_back(last);
  } while (Take(text, ","));
  return text == "]";
}

}  // namespace ringward::recording
