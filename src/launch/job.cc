#include "launch/job.h"

#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/exit_code.h"
#include "comm/board.h"
#include "comm/store_server.h"
#include "launch/environment.h"
#include "launch/job_folder.h"
#include "launch/mpirun.h"
#include "launch/output.h"
#include "launch/signal_guard.h"
#include "launch/supervisor.h"

namespace ringward::launch {
namespace {

constexpr std::chrono::seconds kOutputPatience{5};

Status Validate(const JobSpec& spec) {
  const std::string& engine = spec.engine.engine;
  if (spec.ranks < 1 || spec.ranks > comm::Board::kMaxRanks) {
    return Error(Code::kInvalidInput, "a job has 1 to " + std::to_string(comm::Board::kMaxRanks) +
                                          " ranks, not " + std::to_string(spec.ranks));
  }
  if (spec.command.empty()) return Error(Code::kInvalidInput, "a job needs a program");
  if (engine != "mpi" && engine != "gloo" && engine != "local") {
    return Error(Code::kInvalidInput, "no engine is called '" + engine + "'");
  }
  if (engine == "mpi" && spec.mpirun.empty()) {
    return Error(Code::kInvalidInput, "engine mpi needs the path of mpirun");
  }
  if (access(spec.command[0].c_str(), X_OK) != 0) {
    return Error(Code::kInvalidInput, spec.command[0] + ": not a program that can be started");
  }
  return Ok();
}

/// Width of the terminal behind `fd`; 0 = no terminal.
int Columns(int fd) {
  constexpr int kUsual = 80;
  winsize size{};
  if (isatty(fd) == 0) return 0;
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

Environment JobEnvironment(const JobSpec& spec, const JobFolder& folder) {
  Environment environment = CurrentEnvironment();
  ForgetOuterLauncher(environment);
  const std::string threads = std::to_string(std::max(1, UsableCores().usable / spec.ranks));
  // The BLAS of a rank must not start a thread for every core of the machine.
  environment.emplace("OMP_NUM_THREADS", threads);
  environment.emplace("OPENBLAS_NUM_THREADS", threads);
  for (const auto& [name, value] : spec.environment) environment[name] = value;
  const std::string ranks = std::to_string(spec.ranks);
  environment[variable::kWorldSize] = ranks;
  environment[variable::kLocalSize] = ranks;
  environment[variable::kEngine] = spec.engine.engine;
  environment[variable::kJobId] = folder.job_id();
  environment[variable::kJobDir] = folder.path();
  environment[variable::kCollectiveTimeoutMs] = std::to_string(spec.collective_timeout.count());
  environment[variable::kStartTimeoutMs] = std::to_string(spec.start_timeout.count());
  environment[variable::kThreads] = threads;
  environment[variable::kColumns] = std::to_string(Columns(spec.err));
  if (!spec.preload.empty()) environment[variable::kPreload] = spec.preload;
  return environment;
}

/// The shim and the rank's program.
std::vector<std::string> ShimCommand(const JobSpec& spec) {
  std::vector<std::string> command = {spec.keeper, "shim"};
  command.insert(command.end(), spec.command.begin(), spec.command.end());
  return command;
}

Result<pid_t> StartMpirun(const JobSpec& spec, const JobFolder& folder, const Environment& common,
                          const Output& output) {
  SpawnOptions options;
  options.command = MpirunArguments({.mpirun = spec.mpirun,
                                     .ranks = spec.ranks,
                                     .folder = folder.path(),
                                     .yield = spec.engine.yield,
                                     .root = geteuid() == 0,
                                     .single_copy = SingleCopyWorks()});
  const std::vector<std::string> shim = ShimCommand(spec);
  options.command.insert(options.command.end(), shim.begin(), shim.end());
  options.environment = common;
  options.out = options.err = output.engine_fd();
  return Spawn(options);
}

/// The meeting point of gloo's ranks; null for other engines.
Result<std::unique_ptr<comm::StoreServer>> StartStore(const JobSpec& spec, const JobFolder& folder,
                                                      Environment& environment) {
  if (spec.engine.engine != "gloo") return std::unique_ptr<comm::StoreServer>();
  RINGWARD_ASSIGN(auto store, comm::StoreServer::Start({.job = folder.job_id()}));
  environment[variable::kStore] = store->address() + ":" + std::to_string(store->port());
  return store;
}

Result<std::vector<pid_t>> StartRanks(const JobSpec& spec, const JobFolder& folder,
                                      Environment environment, const Output& output) {
  std::vector<pid_t> children;
  if (spec.engine.engine == "mpi") {
    RINGWARD_ASSIGN(const pid_t mpirun, StartMpirun(spec, folder, environment, output));
    children.push_back(mpirun);
    return children;
  }
  for (int rank = 0; rank < spec.ranks; ++rank) {
    environment[variable::kRank] = environment[variable::kLocalRank] = std::to_string(rank);
    SpawnOptions options{.command = ShimCommand(spec), .environment = environment};
    options.out = options.err = output.engine_fd();
    // Shims that run already are killed with the folder.
    RINGWARD_ASSIGN(const pid_t shim, Spawn(options));
    children.push_back(shim);
  }
  return children;
}

void AddTail(std::string& message, const std::string& title, const std::vector<std::string>& tail) {
  if (tail.empty()) return;
  message += "\nringward: last lines of " + title + ":";
  for (const std::string& line : tail) message += "\n  | " + line;
}

std::string FailureMessage(const Failure& failure, int ended, const Output& output) {
  std::string message = "ringward: " + failure.what;
  if (failure.bad_input) return message;
  if (ended > 0) {
    message += "; ended the other " + (ended == 1 ? "rank" : std::to_string(ended) + " ranks");
  }
  if (failure.rank >= 0) {
    AddTail(message, "rank " + std::to_string(failure.rank), output.Tail(failure.rank));
  } else {
    AddTail(message, "the launcher's helpers", output.Tail(Output::kEngine));
  }
  return message;
}

JobResult Conclude(const Outcome& outcome, const SignalGuard& signals, const Output& output) {
  if (outcome.interrupted) {
    const std::string ranks = outcome.ended == 1 ? "rank" : "ranks";
    return {kExitInterrupted, -1, false,
            "ringward: interrupted by " + SignalName(signals.last_signal()) + "; ended " +
                std::to_string(outcome.ended) + " " + ranks};
  }
  if (outcome.failure) {
    const Failure& failure = *outcome.failure;
    return {failure.exit_code, failure.rank, false, FailureMessage(failure, outcome.ended, output)};
  }
  // The last lines are written after the ranks have ended, so this may be news.
  const Status written = output.status();
  if (written) return {};
  if (output.reader_left()) return {kExitCouldNotRun, -1, true, {}};
  return {kExitCouldNotRun, -1, false, "ringward: " + written.error().what()};
}

}  // namespace

std::chrono::milliseconds StartTimeout(int ranks, const Cores& cores) {
  constexpr std::int64_t kRanksEach = 8;
  const std::chrono::milliseconds minute = std::chrono::minutes(1);
  return std::max(minute, minute * ranks / (kRanksEach * cores.usable));
}

Result<JobResult> RunJob(const JobSpec& spec) {
  RINGWARD_TRY(Validate(spec));
  SignalGuard signals;
  RINGWARD_ASSIGN(JobFolder folder, JobFolder::Create(spec.ranks, spec.keeper, spec.folder_base));
  RINGWARD_ASSIGN(const comm::Board board,
                  comm::Board::Create(folder.path() + "/board", spec.ranks));
  RINGWARD_TRY(folder.NoteTemporaries(spec.temporaries));
  RINGWARD_ASSIGN(const std::unique_ptr<Output> output,
                  Output::Start({.ranks = spec.ranks,
                                 .folder = folder.path(),
                                 .log_dir = spec.log_dir,
                                 .tags = spec.tags,
                                 .in = spec.forward_input ? STDIN_FILENO : -1,
                                 .out = spec.out,
                                 .err = spec.err}));
  if (spec.on_id) spec.on_id(folder.job_id());
  Environment environment = JobEnvironment(spec, folder);
  RINGWARD_ASSIGN(const auto store, StartStore(spec, folder, environment));
  RINGWARD_ASSIGN(const std::vector<pid_t> children,
                  StartRanks(spec, folder, environment, *output));
  Supervisor supervisor(spec, board, children, *output, signals);
  const Outcome outcome = supervisor.Run();
  folder.Close();
  for (const pid_t child : children) waitpid(child, nullptr, 0);  // fails for those reaped already
  output->Stop(kOutputPatience);
  return Conclude(outcome, signals, *output);
}

}  // namespace ringward::launch
