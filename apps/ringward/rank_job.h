#pragma once

#include <chrono>
#include <string>

#include "launch/engine_choice.h"
#include "ringward/cli/subcommand.h"
#include "ringward/watch_beside.h"

namespace ringward::cli {

/// The options of every subcommand that starts ranks.
struct RankJobOptions {
  int ranks = 1;
  std::string engine = "auto";
  std::chrono::milliseconds collective_timeout{30'000};
};

/// Binds --ranks (-np), --engine and --collective-timeout under the heading "Ranks"; `purpose` ends
/// the sentence "processes that ... together".
void AddRankJobOptions(OptionTable& table, RankJobOptions& options, const std::string& purpose);

/// What differs between the jobs.
struct RankJob {
  std::string command;  ///< the subcommand of ringward-rank, which gets the options of scope kRun
  std::string log_dir;  ///< empty: none
  bool forward_input = false;  ///< rank 0 reads standard input
  WatchBesideOptions watch{};  ///< of the watcher beside the ranks
  std::string output;  ///< the file or folder that a rank writes by io::HiddenSibling; empty: none
};

/// Chooses the engine and says why, runs `job` on all ranks to its end, and says on standard error
/// what went wrong. Returns the job's exit code.
Result<int> RunRankJob(const Context& context, const RankJobOptions& options, const RankJob& job);

}  // namespace ringward::cli
