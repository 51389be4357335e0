#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "comm/board.h"

namespace ringward::comm {

/// What speaks against a rank, strongest first.
enum class Ground {
  kNone,     ///< nothing
  kGone,     ///< its process ended without a word
  kLeft,     ///< it finished while others still go on and wait for it
  kStopped,  ///< its process is stopped (SIGSTOP, a debugger)
  kSilent,   ///< its heartbeat stopped
  kAbsent,   ///< it never started, and others did
  kBehind,   ///< it has entered fewer collectives than all others: long in its own work
};

struct Suspicion {
  int rank = -1;  ///< -1 = undecided; `why` then says between whom
  Ground ground = Ground::kNone;
  std::string why;  ///< a clause, e.g. "its process 4711 is stopped"
};

struct SuspectOptions {
  std::chrono::nanoseconds silent_after = std::chrono::seconds(2);  ///< a beat is due each 0.1 s
  std::string proc = "/proc";
};

/// Names the rank to blame when a job hangs, or nobody. Slow is not guilty, and neither are the
/// victims: ranks that wait inside a collective, or failed because a peer was lost, are never named
/// for that. The strongest ground decides; if it fits several ranks the answer is undecided.
/// Thread-safe. Reads a few small files of /proc per rank: not for hot paths.
Suspicion Suspect(const Board& board, std::chrono::nanoseconds now,
                  const SuspectOptions& options = {});

/// What the kernel says of a process.
struct ProcessStat {
  char state = '?';  ///< R S D T t Z X, see proc(5)
  std::int32_t parent = 0;
  std::uint64_t cpu_ticks = 0;   ///< processor time used so far, by all its threads, clock ticks
  std::uint64_t start_time = 0;  ///< clock ticks since boot
};

/// Empty when there is no such process. `proc` is "/proc", or a test's stand-in.
std::optional<ProcessStat> ReadProcessStat(std::int32_t pid, const std::string& proc = "/proc");

}  // namespace ringward::comm
