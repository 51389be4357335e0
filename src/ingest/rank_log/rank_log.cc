#include "ingest/rank_log/rank_log.h"

#include <algorithm>
#include <utility>

#include "base/text_value.h"

namespace ringward::ingest {
namespace {

constexpr std::size_t kTextMost = 400;

}  // namespace

RankLog::RankLog(std::int32_t rank) : tags_(rank), highest_(rank) {}

void RankLog::Feed(std::string_view bytes) {
  for (const char byte : bytes) {
    // A lone CR begins a line anew: bars of progress. Lines of the file are counted by LF.
    if (byte == '\n' || byte == '\r') {
      if (!held_.empty()) TakeLine(held_);
      held_.clear();
      cutting_ = false;
      if (byte == '\n') ++line_;
    } else if (held_.size() < kLineMost) {
      held_ += byte;
    } else if (!std::exchange(cutting_, true)) {
      ++counts_.cut;
    }
  }
}

void RankLog::Restart() {
  held_.clear();
  cutting_ = false;
  line_ = 1;
  tags_.Restart();
}

void RankLog::TakeLine(std::string_view bytes) {
  ++counts_.lines;
  const TaggedLine line = tags_.Read(bytes);
  highest_ = std::max(highest_, line.rank);
  if (speakers_.size() >= kRanksMost && !speakers_.contains(line.rank)) return;
  Speaker& speaker = speakers_[line.rank];
  speaker.printed = true;
  TakeText(line.rank, speaker, line.text);
}

LogWord RankLog::WordOf(const ErrorWord& error, std::int32_t rank, std::string_view text) const {
  LogWord word{.category = error.category, .line = line_, .text = Printable(text, kTextMost)};
  const std::int32_t who = error.rank >= 0 ? error.rank : rank;
  if (who >= 0 && !error.nobody) word.ranks.push_back(who);
  return word;
}

void RankLog::TellStall(Speaker& speaker, bool nothing_more) {
  auto said = speaker.stall.Word(nothing_more);
  if (!said) return;
  words_.push_back({.kind = said->differ ? LogWord::Kind::kDiffers : LogWord::Kind::kStalled,
                    .category = signal::Category::kCommunication,
                    .ranks = std::move(said->ranks),
                    .seconds = said->seconds,
                    .line = said->line,
                    .text = std::move(said->text)});
}

void RankLog::TellPending(Speaker& speaker) {
  if (speaker.pending.line == 0) return;
  words_.push_back(std::exchange(speaker.pending, {}));
  speaker.failed = true;
}

void RankLog::TakeTraceback(std::int32_t rank, Speaker& speaker, std::string_view text) {
  if (text.starts_with(' ') || text.empty()) return;
  const auto error = ErrorOfTraceback(text);
  speaker.in_traceback = false;
  if (!error) return;
  ++counts_.used;
  if (speaker.failed || speaker.muted_lines > 0 || speaker.pending.line != 0) return;
  if (error->follows) {
    speaker.muted_lines = kCaughtLines;
    return;
  }
  speaker.pending = WordOf(*error, rank, text);
  speaker.lines_since = 0;
}

void RankLog::TakeError(const ErrorWord& error, std::int32_t rank, Speaker& who,
                        std::string_view text) {
  if (who.failed || who.muted_lines > 0) return;
  if (who.pending.line != 0) return TellPending(who);  // the end that it led to
  if (error.follows) {
    who.muted_lines = kCaughtLines;
    return;
  }
  who.failed = true;
  words_.push_back(WordOf(error, rank, text));
}

void RankLog::TakeText(std::int32_t rank, Speaker& speaker, std::string_view text) {
  const bool stall = speaker.stall.Take(text, line_);
  TellStall(speaker, false);
  if (stall) {
    ++counts_.used;
    return;
  }
  if (text.starts_with("Traceback (most recent call last)")) {
    speaker.in_traceback = true;
    return;
  }
  if (speaker.in_traceback) return TakeTraceback(rank, speaker, text);
  if (const auto error = ErrorOfLine(text)) {
    ++counts_.used;
    const bool other = error->rank >= 0 && speakers_.size() < kRanksMost;
    TakeError(*error, rank, other ? speakers_[error->rank] : speaker, text);
    return;
  }
  if (text.find_first_not_of(' ') == std::string_view::npos) return;
  if (speaker.muted_lines > 0) --speaker.muted_lines;
  if (speaker.pending.line == 0) return;
  if (++speaker.lines_since >= kCaughtLines) speaker.pending = {};
}

void RankLog::Settle() {
  const auto told = static_cast<std::ptrdiff_t>(words_.size());
  for (auto& [rank, speaker] : speakers_) {
    if (std::exchange(speaker.printed, false)) continue;
    TellStall(speaker, true);
    TellPending(speaker);
  }
  std::stable_sort(words_.begin() + told, words_.end(),
                   [](const LogWord& a, const LogWord& b) { return a.line < b.line; });
}

void RankLog::Finish() {
  if (!held_.empty()) TakeLine(std::exchange(held_, {}));
  for (auto& [rank, speaker] : speakers_) speaker.printed = false;
  Settle();
}

std::vector<LogWord> RankLog::Take() { return std::exchange(words_, {}); }

}  // namespace ringward::ingest
