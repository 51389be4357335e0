#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/rank_log/error_table.h"
#include "ingest/rank_log/stall_text.h"
#include "ingest/rank_log/tags.h"
#include "signal/cause.h"

namespace ringward::ingest {

/// Something that a log says of ranks.
struct LogWord {
  enum class Kind : std::uint8_t {
    kStalled,  ///< others wait for them
    kDiffers,  ///< they are in another collective than the others
    kFailed,   ///< an error that ends them
  };
  Kind kind = Kind::kFailed;
  signal::Category category = signal::Category::kProcessCrash;
  std::vector<std::int32_t> ranks{};  ///< ascending; empty: not told, or undecided
  double seconds = 0.0;               ///< of kStalled: for at least so long
  std::uint64_t line = 0;             ///< in the file, from 1
  std::string text{};                 ///< of that line, without tags
};

struct LogCounts {
  std::uint64_t lines = 0;
  std::uint64_t used = 0;  ///< of them, those that say something
  std::uint64_t cut = 0;   ///< longer than kLineMost: the rest was passed over
};

/// Reads a log of ranks as it grows: which lines tell of a stall, and the first error of each rank.
/// An error that a Python traceback ends in may have been caught: it counts once its rank has
/// printed nothing more by Settle(), and not where kCaughtLines other lines follow. Errors that
/// only follow from the end of others are passed over.
///
/// Memory: one line, and a little for each of kRanksMost ranks. Not safe for concurrent use.
class RankLog {
 public:
  static constexpr std::size_t kLineMost = 4096;  ///< bytes
  static constexpr std::size_t kRanksMost = std::size_t{1} << 12U;
  static constexpr int kCaughtLines = 20;

  /// `rank` of the whole file; -1: lines tell.
  explicit RankLog(std::int32_t rank = -1);
  /// The next bytes of the file, cut anywhere.
  void Feed(std::string_view bytes);
  /// The file was begun anew: lines count from 1. What ranks said stays said.
  void Restart();
  /// Nothing more was printed for a while: what waits for more counts. Of ranks that have printed
  /// since the last call, errors of tracebacks wait on.
  void Settle();
  /// The file is at its end for good.
  void Finish();

  /// What was said since the last call, in order.
  std::vector<LogWord> Take();
  /// Highest rank that lines are tagged with, or that the file is of; -1: none.
  std::int32_t highest_rank() const { return highest_; }
  const LogCounts& counts() const { return counts_; }

 private:
  struct Speaker {
    StallText stall{};
    bool in_traceback = false;
    bool failed = false;   ///< its first error was told
    int muted_lines = 0;   ///< so long its errors follow from the end of another
    bool printed = false;  ///< since Settle()
    int lines_since = 0;   ///< lines since `pending`
    LogWord pending{};     ///< the error of a traceback; line 0: none
  };

  void TakeLine(std::string_view bytes);
  void TakeText(std::int32_t rank, Speaker& speaker, std::string_view text);
  void TakeError(const ErrorWord& error, std::int32_t rank, Speaker& who, std::string_view text);
  void TakeTraceback(std::int32_t rank, Speaker& speaker, std::string_view text);
  LogWord WordOf(const ErrorWord& error, std::int32_t rank, std::string_view text) const;
  void TellStall(Speaker& speaker, bool nothing_more);
  void TellPending(Speaker& speaker);

  TagReader tags_;
  std::string held_;
  bool cutting_ = false;
  std::uint64_t line_ = 1;
  std::int32_t highest_ = -1;
  std::map<std::int32_t, Speaker> speakers_;  ///< by rank; -1: lines without one
  std::vector<LogWord> words_;
  LogCounts counts_;
};

}  // namespace ringward::ingest
