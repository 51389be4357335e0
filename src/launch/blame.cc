#include "launch/blame.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstddef>

#include "base/exit_code.h"
#include "launch/process.h"

namespace ringward::launch {
namespace {

using comm::RankState;

bool EndedWell(const RankEvidence& rank) {
  if (rank.status.wait_status) return *rank.status.wait_status == 0;
  return rank.dead && rank.status.state == RankState::kFinished;
}

bool EndedBadly(const RankEvidence& rank) {
  return rank.status.wait_status && *rank.status.wait_status != 0;
}

/// Gave up because of its peers.
bool IsVictim(const RankEvidence& rank) { return rank.status.state == RankState::kFailed; }

bool WasTerminated(const RankEvidence& rank) {
  const int status = *rank.status.wait_status;
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
}

std::string Name(int rank, const RankEvidence& evidence) {
  std::string name = "rank " + std::to_string(rank);
  if (evidence.status.pid != 0) name += " (pid " + std::to_string(evidence.status.pid) + ")";
  return name;
}

const RankEvidence& At(const Evidence& evidence, int rank) {
  return evidence.ranks.at(static_cast<std::size_t>(rank));
}

int ExitCode(const RankEvidence& rank) {
  if (!EndedBadly(rank) || !WIFEXITED(*rank.status.wait_status)) return kExitCouldNotRun;
  return WEXITSTATUS(*rank.status.wait_status);
}

Failure FromEnd(const Evidence& evidence, int rank) {
  const RankEvidence& culprit = At(evidence, rank);
  std::string what = Name(rank, culprit) + " " + DescribeExit(*culprit.status.wait_status);
  const std::string where = Whereabouts(culprit.status);
  if (!where.empty()) what += " " + where;
  if (!culprit.status.reason.empty()) what += ": " + culprit.status.reason;
  return {rank, what, ExitCode(culprit), false};
}

Failure FromVerdict(const Evidence& evidence) {
  const comm::Verdict& verdict = *evidence.verdict;
  const RankEvidence& culprit = At(evidence, verdict.culprit);
  if (verdict.accuser == verdict.culprit) {
    const int code = EndedBadly(culprit) ? ExitCode(culprit) : kExitCouldNotRun;
    if (code == kExitBadInput) return {verdict.culprit, verdict.why, code, true};
    return {verdict.culprit, Name(verdict.culprit, culprit) + " failed: " + verdict.why, code,
            false};
  }
  // Dead by now of something better known than what its peers saw of it.
  if (EndedBadly(culprit) && !WasTerminated(culprit)) return FromEnd(evidence, verdict.culprit);
  const std::string where = Whereabouts(culprit.status);
  return {verdict.culprit,
          Name(verdict.culprit, culprit) + " holds up the others" +
              (where.empty() ? "" : " " + where) + ": " + verdict.why,
          kExitCouldNotRun, false};
}

/// The earliest abnormal end among the ranks that `counts` lets through; -1 = none.
template <typename Predicate>
int FirstToEnd(const Evidence& evidence, Predicate counts) {
  int first = -1;
  for (std::size_t i = 0; i < evidence.ranks.size(); ++i) {
    const RankEvidence& rank = evidence.ranks[i];
    if (!EndedBadly(rank) || !counts(rank)) continue;
    if (first < 0 || rank.status.ended < At(evidence, first).status.ended) {
      first = static_cast<int>(i);
    }
  }
  return first;
}

/// The first that ended abnormally neither for its peers' sake nor at mpirun's word; -1 = none.
int FirstOfItself(const Evidence& evidence) {
  return FirstToEnd(evidence,
                    [](const RankEvidence& r) { return !IsVictim(r) && !WasTerminated(r); });
}

/// Told to end by a signal, Open MPI's mpirun terminates its ranks and exits with 1, where no rank
/// did; else with the status of the rank it saw fail, 128 + N for one killed by signal N.
bool MpirunWasEnded(int wait_status) {
  constexpr int kStatus = 1;
  return WIFSIGNALED(wait_status) || WEXITSTATUS(wait_status) == kStatus;
}

int FirstToVanish(const Evidence& evidence) {
  int first = -1;
  for (std::size_t i = 0; i < evidence.ranks.size(); ++i) {
    const RankEvidence& rank = evidence.ranks[i];
    if (!rank.dead || rank.status.wait_status || EndedWell(rank) || IsVictim(rank)) continue;
    if (first < 0 || rank.dead_for > At(evidence, first).dead_for) first = static_cast<int>(i);
  }
  return first;
}

Failure Undecided(const Evidence& evidence) {
  Failure failure;
  failure.what = "the job failed and no rank can be named";
  const std::string& doubt = evidence.verdict ? evidence.verdict->why : evidence.suspicion.why;
  if (!doubt.empty()) failure.what += ": " + doubt;
  for (std::size_t i = 0; i < evidence.ranks.size(); ++i) {
    const RankEvidence& rank = evidence.ranks[i];
    if (!IsVictim(rank) || rank.status.reason.empty()) continue;
    failure.what += "; " + Name(static_cast<int>(i), rank) + " says: " + rank.status.reason;
    failure.exit_code = ExitCode(rank);
    break;
  }
  return failure;
}

}  // namespace

bool HasFailed(const Evidence& evidence) {
  if (evidence.verdict) return true;
  const bool any = std::any_of(evidence.ranks.begin(), evidence.ranks.end(), [](const auto& rank) {
    return EndedBadly(rank) || IsVictim(rank) || (rank.dead && !EndedWell(rank));
  });
  return any || (evidence.mpirun_status && !HasFinished(evidence));
}

bool HasFinished(const Evidence& evidence) {
  return std::all_of(evidence.ranks.begin(), evidence.ranks.end(), EndedWell);
}

bool HangsOnMpirun(const Evidence& evidence) {
  if (FirstOfItself(evidence) >= 0) return false;
  return FirstToVanish(evidence) >= 0 ||
         FirstToEnd(evidence, [](const RankEvidence& r) { return WasTerminated(r); }) >= 0;
}

Failure Blame(const Evidence& evidence) {
  if (evidence.verdict && evidence.verdict->culprit >= 0) return FromVerdict(evidence);
  const int vanished = FirstToVanish(evidence);
  int rank = FirstOfItself(evidence);
  const bool mpirun_killed = evidence.mpirun_status && MpirunWasEnded(*evidence.mpirun_status);
  if (rank < 0 && vanished < 0 && !mpirun_killed) {
    rank = FirstToEnd(evidence, [](const RankEvidence& r) { return !IsVictim(r); });
  }
  if (rank >= 0) return FromEnd(evidence, rank);
  if (mpirun_killed) {
    const bool killed = WIFSIGNALED(*evidence.mpirun_status);
    return {-1,
            "mpirun " + DescribeExit(*evidence.mpirun_status) +
                (killed ? "" : " before its ranks ended"),
            kExitCouldNotRun, false};
  }
  if (vanished >= 0) {
    const std::string where = Whereabouts(At(evidence, vanished).status);
    return {vanished,
            Name(vanished, At(evidence, vanished)) + " died" + (where.empty() ? "" : " " + where) +
                "; how is not known, its parent process is lost too",
            kExitCouldNotRun, false};
  }
  if (evidence.suspicion.rank >= 0) {
    const int suspect = evidence.suspicion.rank;
    return {
        suspect,
        Name(suspect, At(evidence, suspect)) + " holds up the others: " + evidence.suspicion.why,
        kExitCouldNotRun, false};
  }
  if (evidence.mpirun_status) {
    return {-1, "mpirun " + DescribeExit(*evidence.mpirun_status) + " before its ranks ended",
            kExitCouldNotRun, false};
  }
  return Undecided(evidence);
}

std::string Whereabouts(const comm::RankStatus& status) {
  std::string where;
  if (status.step > 0) where = "at step " + std::to_string(status.step - 1);
  const std::string comma = where.empty() ? "" : ", ";
  if (status.entered > status.exited) {
    where += comma + "inside collective " + std::to_string(status.entered - 1) + " (" +
             status.operation + ")";
  } else if (status.entered > 0) {
    where += comma + "after collective " + std::to_string(status.entered - 1) + " (" +
             status.operation + ")";
  } else if (status.state == RankState::kStarting) {
    where += comma + "while starting";
  } else if (status.state == RankState::kRunning) {
    where += comma + "before its first collective";
  }
  return where;
}

}  // namespace ringward::launch
