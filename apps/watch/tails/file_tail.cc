#include "watch/tails/file_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace ringward::watch {

bool FileTail::Open() {
  // Not to wait for the writer of a pipe; those are refused below.
  Fd fd(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd || fstat(fd.get(), &info) != 0) {
    trouble_ = errno == ENOENT ? "" : std::strerror(errno);
    return false;
  }
  if (!S_ISREG(info.st_mode)) {
    trouble_ = "is no plain file";
    return false;
  }
  trouble_.clear();
  fd_ = std::move(fd);
  device_ = info.st_dev;
  inode_ = info.st_ino;
  at_ = 0;
  head_.clear();
  anew_ = any_before_;
  any_before_ = true;
  return true;
}

bool FileTail::IsReplaced() const {
  struct stat info {};
  // One that is gone for the moment is being rotated, or was deleted while it is written on.
  return stat(path_.c_str(), &info) == 0 && (info.st_ino != inode_ || info.st_dev != device_);
}

bool FileTail::IsWrittenAnew() const {
  struct stat info {};
  if (fstat(fd_.get(), &info) != 0) return false;
  if (info.st_size < at_) return true;
  std::array<char, kHead> head{};
  const ssize_t got = pread(fd_.get(), head.data(), head_.size(), 0);
  return got >= 0 && std::string_view(head.data(), static_cast<std::size_t>(got)) != head_;
}

void FileTail::Remember(std::string_view bytes) {
  head_ += bytes.substr(0, kHead - std::min(kHead, head_.size()));
}

FileTail::Piece FileTail::Read(std::span<char> buffer) {
  if (!fd_ && !Open()) return {};
  if (IsWrittenAnew()) {
    at_ = 0;
    head_.clear();
    anew_ = true;
  }
  ssize_t got = pread(fd_.get(), buffer.data(), buffer.size(), at_);
  if (got == 0 && IsReplaced()) {
    if (!Open()) return {};
    got = pread(fd_.get(), buffer.data(), buffer.size(), 0);
  }
  // Another host has replaced it on a network file system: it is opened anew at the next look.
  if (got < 0 && errno == ESTALE) fd_.reset();
  if (got <= 0) return {};
  const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
  at_ += got;
  Remember(bytes);
  return {bytes, std::exchange(anew_, false)};
}

}  // namespace ringward::watch
