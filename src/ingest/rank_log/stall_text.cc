#include "ingest/rank_log/stall_text.h"

#include <algorithm>
#include <charconv>

#include "base/text_value.h"

namespace ringward::ingest {
namespace {

constexpr std::string_view kOpening =
    "submitted to be reduced, gathered or broadcasted by subset of ranks";
constexpr std::size_t kStallTextMost = 400;

/// The number right behind `mark`; nothing where there is none.
std::optional<double> NumberAfter(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  double number = 0.0;
  const std::string_view rest = text.substr(at + mark.size());
  const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  constexpr double kMost = 1e9;
  const bool sound = read.ec == std::errc() && number >= 0.0 && number <= kMost;
  return sound ? std::optional(number) : std::nullopt;
}

/// Takes a rank off the front of `text`.
std::optional<std::int32_t> TakeRankNumber(std::string_view& text) {
  std::int32_t rank = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (read.ec != std::errc() || rank < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return rank;
}

}  // namespace

void StallText::Add(std::int32_t rank, std::string tensors, std::string_view text,
                    std::uint64_t line) {
  if (missing_.size() >= kRanksMost && !missing_.contains(rank)) return;
  missing_[rank] = {std::move(tensors), line, Printable(text, kStallTextMost)};
  fresh_ = true;
}

/// "1: [allreduce.a, allreduce.b ...]", "1!: [...]".
bool StallText::TakeRank(std::string_view text, std::uint64_t line) {
  std::string_view rest = text;
  const auto rank = TakeRankNumber(rest);
  if (!rank) return false;
  if (rest.starts_with('!')) rest.remove_prefix(1);
  if (!rest.starts_with(": [") || !rest.ends_with(']')) return false;
  Add(*rank, std::string(rest.substr(3)), text, line);
  return true;
}

/// "allreduce.a [missing ranks: 1, 2]".
bool StallText::TakeTensor(std::string_view text, std::uint64_t line) {
  constexpr std::string_view kMark = "[missing ranks: ";
  const std::size_t at = text.find(kMark);
  if (at == std::string_view::npos) return false;
  std::string_view rest = text.substr(at + kMark.size());
  while (const auto rank = TakeRankNumber(rest)) {
    const auto known = missing_.find(*rank);
    std::string tensors = known == missing_.end() ? "" : known->second.tensors + ", ";
    tensors += text.substr(0, at);
    if (tensors.size() <= kStallTextMost) Add(*rank, std::move(tensors), text, line);
    while (rest.starts_with(',') || rest.starts_with(' ')) rest.remove_prefix(1);
  }
  return true;
}

bool StallText::Take(std::string_view text, std::uint64_t line) {
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.find(kOpening) != std::string_view::npos) {
    inside_ = true;
    fresh_ = false;
    missing_.clear();
    seconds_ = NumberAfter(text, "for more than ").value_or(0.0);
    return true;
  }
  if (!inside_) return false;
  const bool heading = text.empty() || text == "Missing ranks:" || text == "Stalled ranks:" ||
                       text == "Stalled ops:";
  if (heading || TakeRank(text, line) || TakeTensor(text, line)) return true;
  inside_ = false;
  return text.find("One or more rank (marked by") != std::string_view::npos;
}

std::optional<StallWord> StallText::Word(bool nothing_more) {
  if (!fresh_ || missing_.empty() || (inside_ && !nothing_more)) return std::nullopt;
  fresh_ = false;
  // Ranks that miss the same are of one mind.
  std::map<std::string, std::vector<std::int32_t>> minds;
  for (const auto& [rank, missing] : missing_) minds[missing.tensors].push_back(rank);
  StallWord word{.differ = minds.size() > 1, .seconds = seconds_};
  const auto by_size = [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  };
  const auto few = std::min_element(minds.begin(), minds.end(), by_size);
  const auto many = std::max_element(minds.begin(), minds.end(), by_size);
  // Two of which each misses what the other does: nobody is to blame.
  if (!word.differ || few->second.size() < many->second.size()) word.ranks = few->second;
  const Missing& first = missing_.at(few->second.front());
  word.line = first.line;
  word.text = first.text;
  return word;
}

}  // namespace ringward::ingest
