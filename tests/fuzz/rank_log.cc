// Any bytes as a log of ranks that grows. The first byte says how it is cut and of whom it is.
#include "ingest/rank_log/rank_log.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"

using ringward::ingest::LogWord;
using ringward::ingest::RankLog;

namespace {

void CheckWords(RankLog& log) {
  for (const LogWord& word : log.Take()) {
    RINGWARD_CHECK(word.line >= 1 && !word.text.empty() && word.text.size() < 1000);
    RINGWARD_CHECK(std::is_sorted(word.ranks.begin(), word.ranks.end()));
    for (const std::int32_t rank : word.ranks) RINGWARD_CHECK(rank >= 0);
    for (std::string_view rest = word.text; !rest.empty();) {
      const std::size_t letter = ringward::Utf8Length(rest);
      RINGWARD_CHECK(letter > 0);
      rest.remove_prefix(letter);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = (data[0] & 0x7fU) == 0 ? size : (data[0] & 0x7fU);
  RankLog log((data[0] & 0x80U) != 0 ? 3 : -1);
  while (!text.empty()) {
    log.Feed(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
    CheckWords(log);
    log.Settle();
  }
  log.Finish();
  CheckWords(log);
  return 0;
}
