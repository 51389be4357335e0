#include "comm/mpi/mpi_watchdog.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/exit_code.h"
#include "comm/suspect.h"

namespace ringward::comm {

MpiWatchdog::MpiWatchdog(int rank, Board* board, std::chrono::milliseconds tick)
    : rank_(rank),
      board_(board),
      watch_(tick,
             {.expired = [this](std::uint64_t sequence,
                                std::chrono::milliseconds timeout) { Expire(sequence, timeout); },
              .waiting = [this](std::uint64_t sequence) { LookForFailures(sequence); }}) {}

void MpiWatchdog::Expire(std::uint64_t sequence, std::chrono::milliseconds timeout) const {
  const std::string call = "collective " + std::to_string(sequence) + " got no answer within " +
                           std::to_string(timeout.count()) + " ms";
  if (board_ == nullptr) End(-1, call, call);
  const Suspicion suspicion = Suspect(*board_, SystemClock().Now());
  const std::string who =
      suspicion.rank >= 0 ? "rank " + std::to_string(suspicion.rank) + " is to blame, " : "";
  End(suspicion.rank, suspicion.why, call + ": " + who + suspicion.why);
}

void MpiWatchdog::LookForFailures(std::uint64_t sequence) const {
  if (board_ == nullptr) return;
  for (int rank = 0; rank < board_->ranks(); ++rank) {
    if (rank == rank_) continue;
    const RankStatus status = board_->Read(rank);
    if (status.state != RankState::kFailed) continue;
    End(rank, "it failed: " + status.reason,
        "collective " + std::to_string(sequence) + " is given up: rank " + std::to_string(rank) +
            " failed first: " + status.reason);
  }
}

void MpiWatchdog::End(int culprit, const std::string& why, const std::string& line) const {
  if (board_ != nullptr) {
    // The launcher tells the user, once for all ranks.
    board_->Accuse(culprit, rank_, why);
    board_->Fail(rank_, line);
  } else {
    const std::string text = "ringward: rank " + std::to_string(rank_) + ": " + line + "\n";
    (void)!write(STDERR_FILENO, text.data(), text.size());
  }
  _exit(kExitCouldNotRun);  // no destructors: the thread inside MPI will never come back
}

}  // namespace ringward::comm
