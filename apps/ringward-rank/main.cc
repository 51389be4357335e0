// ringward-rank: one rank of a job. Started by `ringward` (see docs/running.md), which tells it by
// its environment which rank it is; the first argument names what to do.

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/caught.h"
#include "base/exit_code.h"
#include "ringward-rank/join.h"
#include "ringward-rank/rank_context.h"

namespace ringward::rank {
namespace {

/// True if another rank, or the way to it, is at fault.
bool IsVictim(Code code) {
  return code == Code::kTimeout || code == Code::kUnavailable || code == Code::kAborted;
}

/// Joins, works, leaves. `communicator` is the caller's so that it can tell the peers of a failure.
Result<int> Work(RankContext& context, RankCommand command,
                 std::unique_ptr<comm::Communicator>& communicator, comm::CallObserver* observer) {
  auto joined = Join(context.environment, context.board);
  if (!joined) return std::move(joined).error().While("joining the other ranks");
  communicator = *std::move(joined);
  communicator->SetObserver(observer);
  context.observer = observer;
  context.communicator = communicator.get();
  if (context.board != nullptr) {
    context.board->SetState(context.environment.rank, comm::RankState::kRunning);
  }
  return command(context);
}

/// Tells the launcher, which tells the user; without one, the user.
void Report(const RankContext& context, const Error& error) {
  if (context.board == nullptr) {
    std::fprintf(stderr, "ringward-rank: %s\n", error.what().c_str());
    return;
  }
  const int rank = context.environment.rank;
  if (!IsVictim(error.code())) context.board->Accuse(rank, rank, error.what());
  context.board->Fail(rank, error.what());
}

int Run(RankContext& context, RankCommand command) {
  std::optional<comm::Heartbeat> heartbeat;
  std::optional<comm::BoardObserver> observer;
  std::unique_ptr<comm::Communicator> communicator;
  const Result<int> status = Guarded([&] {
    if (context.board != nullptr) {
      heartbeat.emplace(*context.board, context.environment.rank);
      observer.emplace(*context.board, context.environment.rank);
    }
    return Work(context, command, communicator, observer ? &*observer : nullptr);
  });
  if (!status) {
    Report(context, status.error());
    if (communicator) communicator->Abort(status.error().what());
  }
  communicator.reset();
  if (!status) return ExitCodeOf(status.error().code());
  if (context.board != nullptr && *status == kExitFine) {
    context.board->SetState(context.environment.rank, comm::RankState::kFinished);
  }
  return *status;
}

Result<int> Main(int argc, char** argv) {
  RankContext context;
  RINGWARD_ASSIGN(context.environment, launch::RankEnvironment::Read());
  const std::string name = argc > 1 ? argv[1] : "";
  const RankCommand command = FindCommand(name);
  if (command == nullptr) {
    return Error(Code::kInvalidInput, "no rank command is called '" + name + "'");
  }
  context.arguments.assign(argv + 2, argv + argc);
  std::optional<comm::Board> board;
  if (!context.environment.job_dir.empty()) {
    RINGWARD_ASSIGN(board, comm::Board::Open(context.environment.BoardPath()));
    context.board = &*board;
  }
  return Run(context, command);
}

}  // namespace
}  // namespace ringward::rank

int main(int argc, char** argv) {
  return ringward::RunProgram("ringward-rank", [&] { return ringward::rank::Main(argc, argv); });
}
