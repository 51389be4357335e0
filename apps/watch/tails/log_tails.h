#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "ingest/rank_log/rank_log.h"
#include "signal/event.h"
#include "watch/tails/file_tail.h"

namespace ringward::watch {

/// What a log says, with the name of the log.
signal::LogLine LogLineOf(ingest::LogWord word, const std::string& file);

/// The logs of a job as they grow: files, and patterns whose files may come later. Not safe for
/// concurrent use.
class LogTails {
 public:
  static constexpr std::size_t kFilesMost = 4096;
  /// A log in which nothing was printed for so long has settled (RankLog::Settle).
  static constexpr std::chrono::seconds kSettle{2};

  explicit LogTails(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  struct Growth {
    bool any = false;   ///< something was new
    bool more = false;  ///< there may be more to read at once
  };
  /// Reads what is new, with the help of `buffer`; at most its size of each file.
  Growth Read(std::span<char> buffer, Clock::Duration now);
  /// What was said since the last call.
  std::vector<signal::LogLine> Take();
  /// Highest rank + 1 that any file tells of; 0: none.
  std::size_t world() const;
  /// No file grows any more.
  void Finish();

 private:
  struct Log {
    FileTail tail;
    ingest::RankLog log;
    std::string said_trouble{};
  };

  void FindFiles();
  void SayTrouble(Log& log);
  void Gather(Log& log);

  std::vector<std::string> patterns_;
  std::map<std::string, Log> logs_;  ///< by path
  bool refused_ = false;             ///< files beyond kFilesMost, which was said
  std::vector<signal::LogLine> lines_;
  Clock::Duration next_find_{};
  Clock::Duration next_settle_{};
};

}  // namespace ringward::watch
