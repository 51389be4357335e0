#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "comm/board.h"
#include "comm/deadline_watch.h"

namespace ringward::comm {

/// Ends this process when a call passes its deadline or a peer has failed meanwhile; see MakeMpi.
class MpiWatchdog {
 public:
  /// `board` may be null, else it must outlive the watchdog.
  MpiWatchdog(int rank, Board* board, std::chrono::milliseconds tick);

  void Arm(std::uint64_t sequence, std::chrono::milliseconds timeout) {
    watch_.Arm(sequence, timeout);
  }
  void Disarm() { watch_.Disarm(); }

 private:
  [[noreturn]] void Expire(std::uint64_t sequence, std::chrono::milliseconds timeout) const;
  void LookForFailures(std::uint64_t sequence) const;
  /// Says so once for the whole job, and ends the process.
  [[noreturn]] void End(int culprit, const std::string& why, const std::string& line) const;

  const int rank_;
  Board* const board_;
  DeadlineWatch watch_;  // last: its thread uses the members above
};

}  // namespace ringward::comm
