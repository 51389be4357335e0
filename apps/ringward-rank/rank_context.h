#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "comm/board.h"
#include "comm/communicator.h"
#include "launch/environment.h"

namespace ringward::rank {

/// What a rank command works with. All of it lives until the command has returned.
struct RankContext {
  launch::RankEnvironment environment;
  comm::Communicator* communicator = nullptr;  ///< joined; never null
  comm::CallObserver* observer = nullptr;      ///< of the communicator; null = none
  comm::Board* board = nullptr;                ///< null when started without a launcher
  std::vector<std::string> arguments;          ///< those after the command's name

  /// For a collective before which some rank may legitimately work for long (rank 0 reads data):
  /// waiting ranks are patient, and the launcher ends the job if a rank freezes meanwhile.
  comm::CallOptions Patient() const { return {.timeout = std::chrono::hours(4)}; }

  /// Tells the launcher the step under way, for its messages.
  void SetStep(std::uint64_t step) const {
    if (board != nullptr) board->SetStep(environment.rank, step);
  }
};

/// The work of one rank. Returns the exit status of its process (ExitCode). An Error ends the job;
/// those of the communicator (kTimeout, kUnavailable, kAborted) mark this rank as a victim of
/// another, every other one as the first to fail.
using RankCommand = Result<int> (*)(RankContext& context);

/// Measures the engine's all-reduce (bench_allreduce.h).
Result<int> RunBenchAllReduceCommand(RankContext& context);
Result<int> RunSelftest(RankContext& context);
/// Trains a model (see learn/train/fit.h); rank 0 reads the data and writes the result.
Result<int> RunTrain(RankContext& context);

/// The command called `name`; null = there is none. New commands are added to its table.
RankCommand FindCommand(const std::string& name);

}  // namespace ringward::rank
