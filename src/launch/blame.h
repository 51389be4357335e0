#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "comm/board.h"
#include "comm/suspect.h"

namespace ringward::launch {

/// What the launcher knows of one rank.
struct RankEvidence {
  comm::RankStatus status;
  bool dead = false;                    ///< its process is gone
  std::chrono::nanoseconds dead_for{};  ///< since that was noticed
};

/// What the launcher knows of a failing job.
struct Evidence {
  std::vector<RankEvidence> ranks;
  std::optional<comm::Verdict> verdict;
  std::optional<int> mpirun_status;  ///< mpirun ended, with this wait status
  comm::Suspicion suspicion;         ///< of the ranks still there
};

/// Who failed first and how.
struct Failure {
  int rank = -1;      ///< -1: undecided, or not a rank
  std::string what;   ///< a sentence without its end, e.g. "rank 2 (pid 7) was killed by SIGKILL"
  int exit_code = 3;  ///< for the launcher: the culprit's own status, else kExitCouldNotRun
  /// The culprit said itself what is wrong with its input: `what` is that one line and nothing need
  /// be added.
  bool bad_input = false;
};

/// True if something has gone wrong that ends the job: a verdict, an abnormal end, a rank that
/// gave up, or mpirun ended before the ranks.
bool HasFailed(const Evidence& evidence);

/// True if every rank has done its work and is gone.
bool HasFinished(const Evidence& evidence);

/// True if ranks were terminated or vanished and nothing else happened: how mpirun ends will tell
/// whether it was mpirun's doing.
bool HangsOnMpirun(const Evidence& evidence);

/// Names the first to fail. In order: the culprit of a verdict; the rank that ended abnormally
/// first, leaving out victims (ranks that gave up without accusing anyone: their peers failed
/// them) and, where others ended otherwise, SIGTERM (what mpirun sends to the rest); mpirun;
/// a rank whose process is gone unseen; whoever the board's suspicion names. Pure.
Failure Blame(const Evidence& evidence);

/// Where a rank was, as an adverbial: "at step 118, inside allreduce 240", or "" if not known.
std::string Whereabouts(const comm::RankStatus& status);

}  // namespace ringward::launch
