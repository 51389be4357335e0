#include "telemetry/guest/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>

#include "telemetry/guest/process.h"

namespace ringward::telemetry {
namespace {

/// A segment without its magic number is being made, unless it is older than this.
constexpr std::time_t kMadeWithinSeconds = 60;

bool ReadNamespace(int fd, std::uint64_t& pid_namespace) {
  std::uint64_t magic = 0;
  if (pread(fd, &magic, sizeof(magic), 0) != sizeof(magic) || magic != kMagic) return false;
  return pread(fd, &pid_namespace, sizeof(pid_namespace), offsetof(Header, pid_namespace)) ==
         sizeof(pid_namespace);
}

/// Sure knowledge only: a /proc that cannot be read says nothing.
bool IsGone(const SegmentName& name) {
  const std::uint64_t start_time = ProcessStartTime(name.pid);
  if (start_time != 0) return start_time != name.start_time;
  return kill(name.pid, 0) != 0 && errno == ESRCH;
}

bool SameJobAndRank(const SegmentName& a, const SegmentName& b) {
  return a.rank == b.rank && std::strcmp(a.job, b.job) == 0;
}

}  // namespace

bool IsLeftover(int folder, const char* file, const SegmentName& name) {
  if (!IsGone(name)) return false;
  const int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  struct stat info {};
  bool leftover = false;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid()) {
    std::uint64_t pid_namespace = 0;
    if (ReadNamespace(fd, pid_namespace)) {
      leftover = pid_namespace != 0 && pid_namespace == PidNamespace();
    } else {
      leftover = std::time(nullptr) - info.st_mtime > kMadeWithinSeconds;
    }
  }
  close(fd);
  return leftover;
}

int RemoveLeftovers(const char* folder, const SegmentName* name) {
  DIR* const entries = opendir(folder);
  if (entries == nullptr) return 0;
  int removed = 0;
  while (const dirent* const entry = readdir(entries)) {
    SegmentName found{};
    if (!ParseSegmentName(entry->d_name, found)) continue;
    if (name != nullptr && !SameJobAndRank(found, *name)) continue;
    if (!IsLeftover(dirfd(entries), entry->d_name, found)) continue;
    if (unlinkat(dirfd(entries), entry->d_name, 0) == 0) ++removed;
  }
  closedir(entries);
  return removed;
}

}  // namespace ringward::telemetry
