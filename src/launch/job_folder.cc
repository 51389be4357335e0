#include "launch/job_folder.h"

#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/system_error.h"
#include "comm/board.h"
#include "comm/suspect.h"
#include "launch/environment.h"

namespace ringward::launch {
namespace {

constexpr std::chrono::seconds kKillLimit{10};

std::string RandomId() {
  std::uint64_t bits = 0;
  // Before the kernel's pool is ready this waits; eight bytes never come in part.
  while (getrandom(&bits, sizeof(bits), 0) != sizeof(bits)) {
  }
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(bits));
  return text.data();
}

/// Shared memory needs about 5 MiB a rank under mpi; a container's /dev/shm may have less.
std::string DefaultBase(int ranks) {
  constexpr std::uint64_t kBytesPerRank = 16U << 20U;
  struct statvfs room {};
  const std::uint64_t needed = (static_cast<std::uint64_t>(ranks) + 1) * kBytesPerRank;
  if (statvfs("/dev/shm", &room) == 0 && access("/dev/shm", W_OK | X_OK) == 0 &&
      static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize >= needed) {
    return "/dev/shm";
  }
  const char* const temporary = std::getenv("TMPDIR");
  return temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
}

namespace fs = std::filesystem;

void RemoveFolder(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

std::string NotePath(const std::string& folder) { return folder + "/temporaries"; }

/// "PREFIX<pid>-" for every rank that the board knows and whose pid names no other process by now.
std::vector<std::string> RankPrefixes(const std::string& folder, const std::string& prefix) {
  std::vector<std::string> prefixes;
  const auto board = comm::Board::Open(folder + "/board");
  if (!board) return prefixes;
  for (int rank = 0; rank < board->ranks(); ++rank) {
    const comm::RankStatus status = board->Read(rank);
    if (status.pid == 0) continue;
    const auto process = comm::ReadProcessStat(status.pid);
    if (process && process->start_time != status.start_time) continue;
    prefixes.push_back(prefix + std::to_string(status.pid) + "-");
  }
  return prefixes;
}

std::vector<fs::path> PathsWithPrefix(const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  const fs::path parent = fs::path(prefix).parent_path();
  for (auto it = fs::directory_iterator(parent, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    if (it->path().string().starts_with(prefix)) found.push_back(it->path());
  }
  return found;
}

/// Removes what killed ranks had half written. Call it when they are dead.
void RemoveTemporaries(const std::string& folder) {
  std::ifstream file(NotePath(folder), std::ios::binary);
  std::string prefix;
  std::getline(file, prefix, '\0');
  if (prefix.empty()) return;
  for (const std::string& mine : RankPrefixes(folder, prefix)) {
    const auto paths = PathsWithPrefix(mine);
    // Two: where the file system cannot exchange names, one of them may be what was there before.
    if (paths.size() > 1) continue;
    for (const fs::path& path : paths) RemoveFolder(path.string());
  }
}

/// Removes the shared memory of the ranks' recorders (docs/formats/telemetry_ring.md), which a
/// killed rank cannot.
void RemoveRecords(const std::string& job_id) {
  for (const fs::path& path : PathsWithPrefix("/dev/shm/ringward." + job_id + ".")) {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
}

}  // namespace

Result<JobFolder> JobFolder::Create(int ranks, const std::string& keeper, const std::string& base) {
  JobFolder folder;
  folder.job_id_ = RandomId();
  folder.path_ = (base.empty() ? DefaultBase(ranks) : base) + "/ringward-job-" + folder.job_id_;
  std::array<int, 2> ends{};
  // Not a pipe: writing to one whose janitor was killed would end this process (SIGPIPE).
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return SystemError("cannot make a socket", errno);
  }
  const Fd read_end(ends[0]);
  folder.janitor_link_ = Fd(ends[1]);
  SpawnOptions janitor{.command = {keeper, "janitor", folder.path_, folder.job_id_},
                       .environment = CurrentEnvironment()};
  janitor.in = read_end.get();
  janitor.die_with_parent = false;
  janitor.new_session = true;
  RINGWARD_ASSIGN(folder.janitor_, Spawn(janitor));
  // Whatever the umask: what cannot be entered cannot be emptied and removed either.
  if (mkdir(folder.path_.c_str(), 0700) != 0 || chmod(folder.path_.c_str(), 0700) != 0) {
    return SystemError("cannot create " + folder.path_, errno);
  }
  return folder;
}

Status JobFolder::NoteTemporaries(const std::string& prefix) const {
  if (prefix.empty()) return Ok();
  std::ofstream file(NotePath(path_), std::ios::binary);
  file << prefix;
  file.close();
  if (file) return Ok();
  return Error(Code::kResource, NotePath(path_) + ": cannot write");
}

void JobFolder::Close() {
  if (!janitor_link_) return;
  KillTagged(variable::kJobId, job_id_, kKillLimit);
  RemoveTemporaries(path_);
  RemoveRecords(job_id_);
  RemoveFolder(path_);
  // Fails only if the janitor was killed; then it is a zombie to reap, as below.
  static_cast<void>(send(janitor_link_.get(), &kJanitorDone, 1, MSG_NOSIGNAL));
  janitor_link_.reset();
  while (janitor_ > 0 && waitpid(janitor_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

int RunJanitor(const std::string& folder, const std::string& job_id) {
  // What ends the launcher politely must not end the janitor before it has done its work.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(signal, SIG_IGN);
  if (chdir("/") != 0) return 1;
  char told = 0;
  ssize_t got = 0;
  do {
    got = read(STDIN_FILENO, &told, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 1 && told == kJanitorDone) return 0;
  const int left = KillTagged(variable::kJobId, job_id, kKillLimit);
  RemoveTemporaries(folder);
  RemoveRecords(job_id);
  RemoveFolder(folder);
  return left == 0 ? 0 : 1;
}

}  // namespace ringward::launch
