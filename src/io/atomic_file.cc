#include "io/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/system_error.h"
#include "io/sync.h"

namespace ringward::io {
Result<AtomicFile> AtomicFile::Create(const std::string& path) {
  AtomicFile file;
  file.path_ = path;
  std::error_code ignored;
  const auto real = std::filesystem::canonical(path, ignored);  // keeps a symbolic link alive
  file.target_ = ignored ? path : real.string();
  struct stat info {};
  const bool exists = stat(file.target_.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return PathError(path, "write", EISDIR);
  if (exists && !S_ISREG(info.st_mode)) {
    file.fd_ = open(file.target_.c_str(), O_WRONLY | O_CLOEXEC);
    // A pipe waits here for its reader.
    if (file.fd_ < 0 && errno == EINTR) return Error(Code::kInterrupted, "interrupted");
    if (file.fd_ < 0) return PathError(path, "open", errno);
    return file;
  }
  std::string temporary = HiddenSibling(file.target_);
  file.fd_ = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file.fd_ < 0) return PathError(path, "create", errno);
  file.temporary_ = std::move(temporary);
  if (exists && fchmod(file.fd_, info.st_mode & 07777U) != 0) {
    return PathError(path, "keep the permissions", errno);
  }
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status AtomicFile::Write(std::string_view bytes) {
  RINGWARD_CHECK(fd_ >= 0);
  while (!bytes.empty()) {
    const ssize_t n = write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return PathError(path_, "write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return Ok();
}

Status AtomicFile::Commit() {
  RINGWARD_CHECK(fd_ >= 0);
  const bool direct = temporary_.empty();
  if (!direct && fsync(fd_) != 0) return PathError(path_, "flush", errno);
  if (close(std::exchange(fd_, -1)) != 0) return PathError(path_, "close", errno);
  if (direct) return Ok();
  if (rename(temporary_.c_str(), target_.c_str()) != 0) return PathError(path_, "rename", errno);
  temporary_.clear();
  return SyncFolder(ParentFolder(target_));
}

Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  RINGWARD_ASSIGN(auto file, AtomicFile::Create(path));
  RINGWARD_TRY(file.Write(bytes));
  return file.Commit();
}

}  // namespace ringward::io
