#include "launch/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <thread>

#include "base/system_error.h"
#include "comm/suspect.h"

extern char** environ;

namespace ringward::launch {
namespace {

using Time = std::chrono::steady_clock;

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Everything the child needs, prepared before fork(): between fork() and execve() a process that
/// had threads may only make async-signal-safe calls.
struct Prepared {
  std::vector<std::string> arguments;
  std::vector<std::string> variables;
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::array<int, 3> descriptors{};
  bool die_with_parent = true;
  bool new_session = false;
  pid_t parent = 0;
  int failure = -1;  ///< pipe: the child writes errno here if it cannot become the program
};

[[noreturn]] void FailChild(const Prepared& p) {
  const int error = errno;
  const ssize_t written = write(p.failure, &error, sizeof(error));
  _exit(written == sizeof(error) ? 127 : 126);
}

void ResetSignals() {
  constexpr int kSignals = 65;
  for (int signal = 1; signal < kSignals; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void BecomeProgram(const Prepared& p) {
  if (p.new_session ? setsid() < 0 : setpgid(0, 0) < 0) FailChild(p);
  if (p.die_with_parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) FailChild(p);
    if (getppid() != p.parent) _exit(127);  // it died before prctl()
  }
  for (int target = 0; target < 3; ++target) {
    const int source = p.descriptors[static_cast<std::size_t>(target)];
    if (source != target && dup2(source, target) < 0) FailChild(p);
    // dup2() clears close-on-exec, but not when source and target are the same.
    if (source == target) fcntl(target, F_SETFD, 0);
  }
  ResetSignals();
  execve(p.argv[0], p.argv.data(), p.envp.data());
  FailChild(p);
}

Prepared Prepare(const SpawnOptions& options, int null_fd) {
  Prepared p;
  p.arguments = options.command;
  for (const auto& [name, value] : options.environment) p.variables.push_back(name + "=" + value);
  p.argv = Pointers(p.arguments);
  p.envp = Pointers(p.variables);
  const auto or_null = [null_fd](int fd) { return fd >= 0 ? fd : null_fd; };
  p.descriptors = {or_null(options.in), or_null(options.out), or_null(options.err)};
  p.die_with_parent = options.die_with_parent;
  p.new_session = options.new_session;
  p.parent = getpid();
  return p;
}

std::string ReadAll(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 4096> block{};
  while (fd) {
    const ssize_t got = read(fd.get(), block.data(), block.size());
    if (got <= 0) break;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  return text;
}

/// True if `environment` (NUL-separated) holds exactly `entry`.
bool Holds(std::string_view environment, std::string_view entry) {
  std::size_t at = 0;
  while ((at = environment.find(entry, at)) != std::string_view::npos) {
    const std::size_t end = at + entry.size();
    const bool starts = at == 0 || environment[at - 1] == '\0';
    if (starts && (end == environment.size() || environment[end] == '\0')) return true;
    at = end;
  }
  return false;
}

bool IsTagged(pid_t pid, const std::string& entry) {
  return Holds(ReadAll("/proc/" + std::to_string(pid) + "/environ"), entry);
}

std::vector<pid_t> Processes() {
  std::vector<pid_t> pids;
  DIR* const folder = opendir("/proc");
  if (folder == nullptr) return pids;
  while (const dirent* const entry = readdir(folder)) {
    const char* const end = entry->d_name + strlen(entry->d_name);
    pid_t pid = 0;
    const auto [rest, error] = std::from_chars(entry->d_name, end, pid);
    if (error == std::errc() && rest == end) pids.push_back(pid);
  }
  closedir(folder);
  return pids;
}

/// Kills what carries the tag now; a process is told by its descriptor, so that a reused pid is
/// never hit.
int KillTaggedOnce(const std::string& entry) {
  int found = 0;
  for (const pid_t pid : Processes()) {
    if (pid == getpid() || !IsTagged(pid, entry)) continue;
    const Fd process = OpenProcess(pid, 0);
    if (!process || !IsTagged(pid, entry)) continue;
    ++found;
    syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
  }
  return found;
}

}  // namespace

Environment CurrentEnvironment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

Result<pid_t> Spawn(const SpawnOptions& options) {
  const std::string& program = options.command.at(0);
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  std::array<int, 2> ends{};
  if (!null || pipe2(ends.data(), O_CLOEXEC) != 0) return SystemError("cannot make a pipe", errno);
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  Prepared prepared = Prepare(options, null.get());
  prepared.failure = write_end.get();
  const pid_t pid = fork();
  if (pid < 0) return SystemError("cannot start " + program, errno);
  if (pid == 0) BecomeProgram(prepared);
  write_end.reset();
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(read_end.get(), &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  if (got != sizeof(error)) return pid;  // closed by a successful execve()
  waitpid(pid, nullptr, 0);
  return SystemError("cannot start " + program, error);
}

Result<std::string> Capture(const std::vector<std::string>& command,
                            std::chrono::milliseconds limit) {
  constexpr std::size_t kMaxBytes = 64U << 10U;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return SystemError("cannot make a pipe", errno);
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  SpawnOptions options{.command = command, .environment = CurrentEnvironment()};
  options.out = options.err = write_end.get();
  RINGWARD_ASSIGN(const pid_t pid, Spawn(options));
  write_end.reset();
  const auto end = Time::now() + limit;
  std::string output;
  bool timed_out = false;
  while (output.size() < kMaxBytes) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Time::now());
    pollfd wait{read_end.get(), POLLIN, 0};
    const int ready = poll(&wait, 1, std::max(0, static_cast<int>(left.count())));
    if (ready < 0 && errno == EINTR) continue;
    timed_out = ready == 0;
    if (ready <= 0) break;
    std::array<char, 4096> block{};
    const ssize_t got = read(read_end.get(), block.data(), block.size());
    if (got <= 0) break;
    output.append(block.data(), static_cast<std::size_t>(got));
  }
  kill(-pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  if (timed_out) return Error(Code::kTimeout, command[0] + " did not answer in time");
  return output;
}

std::string FindInPath(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    std::string candidate = std::string(rest.substr(0, colon)) + "/" + name;
    struct stat info {};
    if (stat(candidate.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return {};
}

Result<std::string> FindHelper(const std::string& name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return Error(Code::kResource, "cannot read /proc/self/exe: " + error.message());
  const auto folder = self.parent_path();
  const auto installed = folder.parent_path() / "libexec" / "ringward";
  for (const auto& place : {folder, installed}) {
    const std::string candidate = (place / name).string();
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return Error(Code::kResource, "the program " + name + " is neither in " + folder.string() +
                                    " nor in " + installed.string());
}

std::string FindLibrary(const std::string& file) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const auto prefix = self.parent_path().parent_path();
  for (const char* const folder : {"lib", RINGWARD_LIBDIR}) {
    std::string candidate = (prefix / folder / file).string();
    if (access(candidate.c_str(), R_OK) == 0) return candidate;
  }
  return {};
}

std::string SignalName(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
}

std::string DescribeExit(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    return "was killed by " + SignalName(WTERMSIG(wait_status)) +
           (WCOREDUMP(wait_status) ? " (core dumped)" : "");
  }
  return "exited with status " + std::to_string(WEXITSTATUS(wait_status));
}

Fd OpenProcess(pid_t pid, std::uint64_t start_time) {
  Fd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process || start_time == 0) return process;
  // Checked after opening: the descriptor keeps naming the process that was looked at.
  const auto stat = comm::ReadProcessStat(pid);
  if (!stat || stat->start_time != start_time) return Fd();
  return process;
}

bool HasTag(pid_t pid, const std::string& name, const std::string& value) {
  return IsTagged(pid, name + "=" + value);
}

int KillTagged(const std::string& name, const std::string& value, std::chrono::milliseconds limit) {
  const std::string entry = name + "=" + value;
  const auto end = Time::now() + limit;
  while (true) {
    const int found = KillTaggedOnce(entry);
    // A process killed between fork() and execve() of its child may leave one that was not there
    // when the list was read, so only a pass that finds none is the last.
    if (found == 0 || Time::now() >= end) return found;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace ringward::launch
