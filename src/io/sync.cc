#include "io/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <system_error>

#include "base/system_error.h"

namespace ringward::io {
namespace {

Status SyncPath(const std::string& path, int flags) {
  const int fd = open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) {
    return SystemError(path + ": cannot flush", errno);
  }
  const int failed = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  // Some file systems cannot flush folders and say so; the rename is then as safe as they make it.
  if (failed != 0 && failed != EINVAL && failed != ENOTSUP) {
    return SystemError(path + ": cannot flush", failed);
  }
  return Ok();
}

}  // namespace

std::string ParentFolder(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

std::string HiddenPrefix(const std::string& path) {
  const std::filesystem::path full(path);
  return (full.parent_path() / ("." + full.filename().string() + ".tmp-")).string();
}

std::string HiddenSibling(const std::string& path) {
  static std::atomic<unsigned> count{0};
  return HiddenPrefix(path) + std::to_string(getpid()) + "-" + std::to_string(count.fetch_add(1));
}

Status SyncFolder(const std::string& path) { return SyncPath(path, O_RDONLY | O_DIRECTORY); }

Status SyncTree(const std::string& path) {
  std::error_code error;
  for (auto it = std::filesystem::recursive_directory_iterator(path, error);
       !error && it != std::filesystem::recursive_directory_iterator(); it.increment(error)) {
    RINGWARD_TRY(SyncPath(it->path().string(), O_RDONLY));
  }
  if (error) return Error(Code::kResource, path + ": cannot list: " + error.message());
  return SyncFolder(path);
}

}  // namespace ringward::io
