#include "watch/tails/log_tails.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "io/expand.h"

namespace ringward::watch {
namespace {

constexpr std::chrono::seconds kFindEvery{2};

bool IsPattern(const std::string& path) { return path.find_first_of("*?[") != std::string::npos; }

}  // namespace

signal::LogLine LogLineOf(ingest::LogWord word, const std::string& file) {
  using From = ingest::LogWord::Kind;
  using To = signal::LogLine::Kind;
  const To kind = word.kind == From::kStalled   ? To::kStalled
                  : word.kind == From::kDiffers ? To::kDiffers
                                                : To::kFailed;
  return {.kind = kind,
          .category = word.category,
          .ranks = std::move(word.ranks),
          .seconds = word.seconds,
          .where = {.file = file, .line = word.line, .text = std::move(word.text)}};
}

void LogTails::FindFiles() {
  for (const std::string& pattern : patterns_) {
    // A file need not exist yet; a pattern matches what is there.
    auto files = IsPattern(pattern) ? io::ExpandInputs(std::span(&pattern, 1))
                                    : Result(std::vector{pattern});
    if (!files) continue;
    for (std::string& file : *files) {
      if (logs_.contains(file)) continue;
      if (logs_.size() >= kFilesMost) {
        if (!std::exchange(refused_, true))
          LogWarning("not watched: " + file + " and others: too many logs");
        return;
      }
      const std::int32_t rank = ingest::RankOfFile(file);
      logs_.emplace(file, Log{FileTail(file), ingest::RankLog(rank)});
    }
  }
}

void LogTails::SayTrouble(Log& log) {
  const std::string& trouble = log.tail.trouble();
  if (!trouble.empty() && trouble != log.said_trouble)
    LogWarning("not watched: " + log.tail.path() + ": " + trouble);
  log.said_trouble = trouble;
}

void LogTails::Gather(Log& log) {
  for (ingest::LogWord& word : log.log.Take())
    lines_.push_back(LogLineOf(std::move(word), log.tail.path()));
}

LogTails::Growth LogTails::Read(std::span<char> buffer, Clock::Duration now) {
  if (now >= next_find_) {
    FindFiles();
    next_find_ = now + kFindEvery;
  }
  Growth growth;
  for (auto& [path, log] : logs_) {
    const FileTail::Piece piece = log.tail.Read(buffer);
    if (piece.anew) log.log.Restart();
    log.log.Feed(piece.bytes);
    growth.any = growth.any || !piece.bytes.empty();
    growth.more = growth.more || piece.bytes.size() == buffer.size();
    SayTrouble(log);
  }
  // What is still to be read may say that an error was caught.
  const bool settle = now >= next_settle_ && !growth.more;
  for (auto& [path, log] : logs_) {
    if (settle) log.log.Settle();
    Gather(log);
  }
  if (settle) next_settle_ = now + kSettle;
  return growth;
}

void LogTails::Finish() {
  for (auto& [path, log] : logs_) {
    log.log.Finish();
    Gather(log);
  }
}

std::vector<signal::LogLine> LogTails::Take() { return std::exchange(lines_, {}); }

std::size_t LogTails::world() const {
  std::int32_t highest = -1;
  for (const auto& [path, log] : logs_) highest = std::max(highest, log.log.highest_rank());
  return static_cast<std::size_t>(highest + 1);
}

}  // namespace ringward::watch
