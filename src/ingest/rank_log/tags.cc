#include "ingest/rank_log/tags.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/utf8.h"

namespace ringward::ingest {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::optional<std::int32_t> RankOf(std::string_view digits) {
  std::int32_t rank = -1;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, rank);
  if (digits.empty() || read.ec != std::errc() || read.ptr != end || rank < 0 ||
      rank > kTagRankMost)
    return std::nullopt;
  return rank;
}

std::size_t DigitsAtEnd(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && IsDigit(text[text.size() - 1 - count])) ++count;
  return count;
}

/// Takes `\x1b[...m` and other sequences of terminals, bytes 0, and the CR before a line's end.
std::string Plain(std::string_view line) {
  std::string text;
  text.reserve(line.size());
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\x1b' && at + 1 < line.size() && line[at + 1] == '[') {
      at += 2;
      while (at < line.size() && (line[at] < '@' || line[at] > '~')) ++at;
    } else if (line[at] != '\0' && line[at] != '\x1b') {
      const std::size_t letter = Utf8Length(line.substr(at));
      text += letter == 0 ? "?" : line.substr(at, letter);
      at += std::max<std::size_t>(letter, 1) - 1;
    }
  }
  while (!text.empty() && text.back() == '\r') text.pop_back();
  return text;
}

struct Tag {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::int32_t rank = -1;
};

/// "[1,3]<stdout>:" from `from` on.
std::optional<Tag> FindStreamTag(std::string_view text, std::size_t from) {
  constexpr std::array<std::string_view, 3> kStreams = {"]<stdout>:", "]<stderr>:", "]<stddiag>:"};
  for (std::size_t close = text.find("]<", from); close != std::string_view::npos;
       close = text.find("]<", close + 1)) {
    const auto stream = std::find_if(kStreams.begin(), kStreams.end(), [&](std::string_view each) {
      return text.substr(close).starts_with(each);
    });
    const std::size_t open = text.substr(0, close).rfind('[');
    if (stream == kStreams.end() || open == std::string_view::npos || open < from) continue;
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    const std::size_t comma = inside.rfind(',');
    const auto rank = RankOf(comma == std::string_view::npos ? inside : inside.substr(comma + 1));
    if (rank) return Tag{open, close + stream->size(), *rank};
  }
  return std::nullopt;
}

/// "Sun Nov 29 17:40:00 2026", which launchers put before a tag.
bool IsDate(std::string_view text) {
  constexpr std::string_view kShape = "Aaa Aaa nn nn:nn:nn nnnn";
  if (text.size() != kShape.size()) return false;
  for (std::size_t at = 0; at < kShape.size(); ++at) {
    const bool fits = kShape[at] == 'n' ? IsDigit(text[at]) || text[at] == ' '
                      : kShape[at] == ' ' || kShape[at] == ':' ? text[at] == kShape[at]
                                                               : IsLetter(text[at]);
    if (!fits) return false;
  }
  return true;
}

/// Takes all stream tags out of `text`; the first one's rank.
std::int32_t TakeStreamTags(std::string& text) {
  std::int32_t rank = -1;
  std::string rest;
  std::size_t from = 0;
  while (const auto tag = FindStreamTag(text, from)) {
    std::string_view before = std::string_view(text).substr(from, tag->begin - from);
    while (before.ends_with(' ') && IsDate(before.substr(0, before.size() - 1)))
      before.remove_suffix(1);
    if (!IsDate(before)) rest += before;
    if (rank < 0) rank = tag->rank;
    from = tag->end;
  }
  if (rank >= 0) text = rest + text.substr(from);
  return rank;
}

}  // namespace

std::int32_t RankOfFile(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view folder =
      slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  const std::string_view file = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const std::string_view parent = folder.substr(folder.rfind('/') + 1);
  for (const std::string_view name :
       {file.substr(0, file.find('.', file.find_first_of("0123456789"))), parent}) {
    const std::size_t digits = DigitsAtEnd(name);
    std::string_view word = name.substr(0, name.size() - digits);
    if (!word.empty() && std::string_view(".-_").find(word.back()) != std::string_view::npos)
      word.remove_suffix(1);
    if (digits == 0 || !(word.ends_with("rank") || word.ends_with("worker"))) continue;
    return RankOf(name.substr(name.size() - digits)).value_or(-1);
  }
  const bool of_stream = file.starts_with("stdout") || file.starts_with("stderr");
  return of_stream && DigitsAtEnd(parent) == parent.size() ? RankOf(parent).value_or(-1) : -1;
}

std::int32_t TagReader::TakeFront(Style style, std::string_view& text) {
  std::size_t at = style == Style::kColon ? 0 : 1;
  if (style != Style::kColon && !text.starts_with('[')) return -1;
  if (style == Style::kName) {
    while (at < text.size() && IsLetter(text[at])) ++at;
    if (at == 1) return -1;
  }
  const std::size_t first = at;
  while (at < text.size() && IsDigit(text[at])) ++at;
  const auto rank = RankOf(text.substr(first, at - first));
  const std::string_view close = style == Style::kName      ? "]:"
                                 : style == Style::kBracket ? "] "
                                                            : ": ";
  if (!rank || !text.substr(at).starts_with(close)) return -1;
  text.remove_prefix(at + close.size());
  if (style == Style::kName && text.starts_with(' ')) text.remove_prefix(1);
  return *rank;
}

TaggedLine TagReader::Read(std::string_view line) {
  TaggedLine tagged{file_rank_, Plain(line)};
  // Those that stand in a line by chance least often first.
  const std::int32_t by_stream = TakeStreamTags(tagged.text);
  if (by_stream >= 0) style_ = Style::kStream;
  std::string_view text = tagged.text;
  std::int32_t rank = by_stream;
  for (const Style style : {Style::kName, Style::kBracket, Style::kColon}) {
    const bool strong = style == Style::kName && style_ != Style::kStream;
    const bool weak = file_rank_ < 0 && style_ == Style::kOpen;
    if (rank >= 0 || !(strong || weak || style_ == style)) continue;
    rank = TakeFront(style, text);
    if (rank >= 0) style_ = style;
  }
  if (style_ == Style::kOpen && !text.empty()) style_ = Style::kNone;
  if (by_stream < 0 && rank >= 0) tagged.text = std::string(text);
  if (rank >= 0 && file_rank_ < 0) tagged.rank = rank;
  return tagged;
}

}  // namespace ringward::ingest
