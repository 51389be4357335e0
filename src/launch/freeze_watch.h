#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "comm/board.h"

namespace ringward::launch {

/// Notices ranks that freeze, wherever they are: stopped processes, and heartbeats that no longer
/// come. Time counts only while the watcher itself was awake to see it, so that a machine that
/// slept, or a launcher that was stopped together with its ranks, accuses nobody.
class FreezeWatch {
 public:
  struct Frozen {
    int rank = 0;
    std::string why;  ///< e.g. "its process has been stopped for 5.0 s (SIGSTOP, or a debugger)"
  };

  /// `limit` is how long a freeze must last; `proc` is /proc or a test's stand-in.
  FreezeWatch(const comm::Board& board, std::chrono::nanoseconds limit, std::string proc = "/proc");

  /// Looks once; call it every 0.1 to 1 s. Returns the ranks frozen for `limit` or longer. Ranks
  /// without heartbeat count only while another rank's heart beats (or there is no other).
  std::vector<Frozen> Look(std::chrono::nanoseconds now);

 private:
  struct Seen {
    std::chrono::nanoseconds stopped_for{};
    std::chrono::nanoseconds silent_for{};
    std::chrono::nanoseconds last_beat{};
  };
  void LookAt(int rank, std::chrono::nanoseconds elapsed);

  const comm::Board& board_;
  std::chrono::nanoseconds limit_;
  std::string proc_;
  std::vector<Seen> seen_;
  std::chrono::nanoseconds last_look_{};
};

}  // namespace ringward::launch
