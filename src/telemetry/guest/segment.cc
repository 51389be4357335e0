#include "telemetry/guest/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ringward::telemetry {
namespace {

bool AllowedInName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

/// The decimal number at `at`, at most `most`, ended by `end`; moves `at` behind it.
bool TakeNumber(const char*& at, char end, std::uint64_t most, std::uint64_t& value) {
  if (*at < '0' || *at > '9') return false;
  char* stop = nullptr;
  errno = 0;
  value = std::strtoull(at, &stop, 10);
  if (errno != 0 || *stop != end || value > most) return false;
  at = stop + 1;
  return true;
}

/// Growing a file past this limit would end the process by SIGXFSZ.
bool FitsFileLimit() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= kSegmentBytes;
}

}  // namespace

SegmentName MakeSegmentName(const char* job, std::int32_t rank, std::int32_t pid,
                            std::uint64_t start_time) {
  SegmentName name{};
  for (std::size_t i = 0; i < kJobInNameMax && job[i] != '\0'; ++i) {
    name.job[i] = AllowedInName(job[i]) ? job[i] : '_';
  }
  name.rank = rank;
  name.pid = pid;
  name.start_time = start_time;
  return name;
}

bool FormatSegmentName(const SegmentName& name, char* out, std::size_t size) {
  const int length = std::snprintf(out, size, "ringward.%s.%d.%d.%llu", name.job, name.rank,
                                   name.pid, static_cast<unsigned long long>(name.start_time));
  return length > 0 && static_cast<std::size_t>(length) < size;
}

bool ParseSegmentName(const char* file, SegmentName& name) {
  constexpr char kPrefix[] = "ringward.";
  if (std::strncmp(file, kPrefix, sizeof(kPrefix) - 1) != 0) return false;
  const char* at = file + sizeof(kPrefix) - 1;
  name = {};
  std::size_t length = 0;
  for (; length < kJobInNameMax && AllowedInName(at[length]); ++length) {
    name.job[length] = at[length];
  }
  if (length == 0 || at[length] != '.') return false;
  at += length + 1;
  std::uint64_t rank = 0;
  std::uint64_t pid = 0;
  if (!TakeNumber(at, '.', INT32_MAX, rank) || !TakeNumber(at, '.', INT32_MAX, pid) ||
      !TakeNumber(at, '\0', UINT64_MAX, name.start_time)) {
    return false;
  }
  name.rank = static_cast<std::int32_t>(rank);
  name.pid = static_cast<std::int32_t>(pid);
  return true;
}

char* CreateSegment(const char* path, int& error) {
  if (!FitsFileLimit()) {
    error = ENOSPC;
    return nullptr;
  }
  const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    error = errno;
    return nullptr;
  }
  // ftruncate succeeds on a full /dev/shm, and the first store is then the end of the process.
  error = posix_fallocate(fd, 0, static_cast<off_t>(kSegmentBytes));
  void* mapping = MAP_FAILED;
  if (error == 0) {
    mapping =
        mmap(nullptr, kSegmentBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (mapping == MAP_FAILED) error = errno;
  }
  close(fd);
  if (mapping == MAP_FAILED) {
    unlink(path);
    return nullptr;
  }
  // A child that lives on must not keep the memory of a segment that is gone.
  madvise(mapping, kSegmentBytes, MADV_DONTFORK);
  return static_cast<char*>(mapping);
}

}  // namespace ringward::telemetry
