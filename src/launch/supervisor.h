#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "comm/board.h"
#include "launch/blame.h"
#include "launch/freeze_watch.h"
#include "launch/job.h"
#include "launch/output.h"
#include "launch/signal_guard.h"

namespace ringward::launch {

/// How the ranks' time ended.
struct Outcome {
  std::optional<Failure> failure;  ///< empty = every rank did its work, or what is said below
  bool interrupted = false;        ///< the user ended the job
  int ended = 0;                   ///< other ranks that were ended because of that
};

/// Watches the processes of a started job until they are gone. Not thread-safe.
class Supervisor {
 public:
  /// `children` are the processes this one started: mpirun alone, or one shim per rank.
  Supervisor(const JobSpec& spec, const comm::Board& board, std::vector<pid_t> children,
             const Output& output, SignalGuard& signals);

  /// Returns when all ranks are gone, having ended them if one failed or froze, if the user asked
  /// for it, or if the output cannot be written.
  Outcome Run();

 private:
  struct Rank {
    Fd process;  ///< empty before its pid is known and after its death was seen
    bool known = false;
    bool dead = false;
    std::chrono::nanoseconds died{};
  };

  void Wait(std::chrono::milliseconds limit);
  void Observe();
  void ReapChildren();
  Evidence Gather() const;
  /// What ends the job now, if anything does.
  std::optional<Failure> Detect();
  std::optional<Failure> DetectFrozen();
  std::optional<Failure> DetectLate() const;
  bool Settled(const Evidence& evidence);
  int EndRanks(std::chrono::milliseconds grace, int culprit);
  bool AllDead() const;
  void Signal(int signal, bool only_stopped);

  const JobSpec& spec_;
  const comm::Board& board_;
  std::vector<pid_t> children_;
  const Output& output_;
  SignalGuard& signals_;
  FreezeWatch freezes_;
  std::vector<Rank> ranks_;
  std::optional<int> mpirun_status_;
  std::chrono::nanoseconds started_;
  std::chrono::nanoseconds next_look_{};
  std::chrono::nanoseconds mpirun_stopped_{};
  std::chrono::nanoseconds failing_since_{};
};

}  // namespace ringward::launch
