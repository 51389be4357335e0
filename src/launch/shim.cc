#include "launch/shim.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/clock.h"
#include "base/system_error.h"
#include "comm/board.h"
#include "launch/environment.h"
#include "launch/output.h"
#include "launch/process.h"

namespace ringward::launch {
namespace {

constexpr int kCannotStart = 126;

struct Pipes {
  Fd in;
  Fd out;
  Fd err;
};

Result<Fd> Open(const std::string& path, int flags) {
  Fd fd(open(path.c_str(), flags | O_CLOEXEC));
  if (!fd) return SystemError("cannot open " + path, errno);
  return fd;
}

Result<Pipes> OpenPipes(const RankEnvironment& rank) {
  Pipes pipes;
  RINGWARD_ASSIGN(pipes.out, Open(OutPipe(rank.job_dir, rank.rank), O_WRONLY));
  RINGWARD_ASSIGN(pipes.err, Open(ErrPipe(rank.job_dir, rank.rank), O_WRONLY));
  const std::string in = InPipe(rank.job_dir);
  const bool reads = rank.rank == 0 && access(in.c_str(), F_OK) == 0;
  // Waits until the launcher has opened the other end.
  RINGWARD_ASSIGN(pipes.in, Open(reads ? in : "/dev/null", O_RDONLY));
  return pipes;
}

[[noreturn]] void BecomeRank(comm::Board& board, int rank, const Pipes& pipes,
                             const std::vector<std::string>& command, pid_t shim,
                             const sigset_t& mask) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != shim) _exit(kCannotStart);
  board.Join(rank, getpid());
  dup2(pipes.in.get(), STDIN_FILENO);
  dup2(pipes.out.get(), STDOUT_FILENO);
  dup2(pipes.err.get(), STDERR_FILENO);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::signal(SIGXFSZ, SIG_DFL);  // what the keeper ignores is not every program's choice
  if (const char* const library = std::getenv(variable::kPreload); library != nullptr) {
    const char* const others = std::getenv("LD_PRELOAD");
    const std::string all = others == nullptr ? library : std::string(library) + ":" + others;
    setenv("LD_PRELOAD", all.c_str(), 1);
  }
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  const std::string why = "cannot start " + command[0] + ": " + SystemMessage(errno);
  board.Fail(rank, why);
  board.Accuse(rank, rank, why);
  _exit(kCannotStart);
}

/// Waits for the child; every other signal of `watched` goes on to it.
int Await(pid_t child, const sigset_t& watched) {
  int status = 0;
  while (true) {
    const pid_t reaped = waitpid(child, &status, WNOHANG);
    if (reaped == child) return status;
    int signal = 0;
    if (sigwait(&watched, &signal) == 0 && signal != SIGCHLD) kill(child, signal);
  }
}

Result<int> Shim(const std::vector<std::string>& command) {
  RINGWARD_ASSIGN(const RankEnvironment rank, RankEnvironment::Read());
  RINGWARD_ASSIGN(comm::Board board, comm::Board::Open(rank.BoardPath()));
  RINGWARD_ASSIGN(const Pipes pipes, OpenPipes(rank));
  sigset_t watched;
  sigset_t before;
  sigemptyset(&watched);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    sigaddset(&watched, signal);
  }
  sigprocmask(SIG_BLOCK, &watched, &before);
  const pid_t shim = getpid();
  const pid_t child = fork();
  if (child < 0) return SystemError("cannot fork", errno);
  if (child == 0) BecomeRank(board, rank.rank, pipes, command, shim, before);
  const int status = Await(child, watched);
  board.SetEnded(rank.rank, status, SystemClock().Now());
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

int RunShim(const std::vector<std::string>& command) {
  // Under mpirun the shims' environments are equal but for Open MPI's own variables.
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank != nullptr && std::getenv(variable::kRank) == nullptr) {
    setenv(variable::kRank, rank, 1);
    setenv(variable::kLocalRank, rank, 1);
  }
  // The names that other frameworks read.
  for (const auto& [ours, theirs] :
       {std::pair(variable::kRank, "RANK"), std::pair(variable::kLocalRank, "LOCAL_RANK")}) {
    if (const char* const value = std::getenv(ours); value != nullptr) setenv(theirs, value, 1);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto status = Shim(command);
  if (status) return *status;
  std::fprintf(stderr, "ringward-keeper: %s\n", status.error().what().c_str());
  return kCannotStart;
}

}  // namespace ringward::launch
