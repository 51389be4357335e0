#include "io/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/interrupt.h"
#include "base/system_error.h"
#include "io/decompress.h"

namespace ringward::io {
namespace {

class FdSource final : public ByteSource {
 public:
  FdSource(int fd, bool owned, std::string name) : fd_(fd), owned_(owned), name_(std::move(name)) {
    struct stat info {};
    waits_ = fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode);
  }
  ~FdSource() override {
    if (owned_) close(fd_);
  }
  FdSource(const FdSource&) = delete;
  FdSource& operator=(const FdSource&) = delete;

  Result<std::size_t> Read(std::span<char> out) override {
    // Before a read too: a signal between two reads interrupts neither.
    while (!InterruptRequested()) {
      if (waits_ && !WaitForBytes()) continue;
      const ssize_t n = read(fd_, out.data(), out.size());
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR && !(waits_ && errno == EAGAIN)) {
        return SystemError(name_ + ": cannot read", errno);
      }
    }
    return Error(Code::kInterrupted, "interrupted while reading " + name_);
  }
  const std::string& name() const override { return name_; }

 private:
  /// False when a signal came instead. A read alone would miss one that comes right before it.
  bool WaitForBytes() const {
    std::array<pollfd, 2> wanted{{{fd_, POLLIN, 0}, {InterruptFd(), POLLIN, 0}}};
    return poll(wanted.data(), wanted.size(), -1) > 0 && wanted[1].revents == 0;
  }

  int fd_;
  bool owned_;
  bool waits_ = false;  // a pipe, a terminal or a device: it may have nothing for long
  std::string name_;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string bytes, std::string name)
      : bytes_(std::move(bytes)), name_(std::move(name)) {}
  Result<std::size_t> Read(std::span<char> out) override {
    const std::size_t n = std::min(out.size(), bytes_.size() - used_);
    std::memcpy(out.data(), bytes_.data() + used_, n);
    used_ += n;
    return n;
  }
  const std::string& name() const override { return name_; }

 private:
  std::string bytes_;
  std::size_t used_ = 0;
  std::string name_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> OpenRawInput(const std::string& path) {
  if (path == "-") {
    return std::unique_ptr<ByteSource>(std::make_unique<FdSource>(STDIN_FILENO, false, "<stdin>"));
  }
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return PathError(path, "open", errno);
  }
  auto source = std::make_unique<FdSource>(fd, true, path);
  struct stat info {};
  if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    return Error(Code::kInvalidInput, path + ": is a folder, not a file");
  }
  return std::unique_ptr<ByteSource>(std::move(source));
}

Result<std::unique_ptr<ByteSource>> OpenInput(const std::string& path) {
  RINGWARD_ASSIGN(auto raw, OpenRawInput(path));
  return Decompress(std::move(raw));
}

std::unique_ptr<ByteSource> FromMemory(std::string bytes, std::string name) {
  return std::make_unique<MemorySource>(std::move(bytes), std::move(name));
}

Result<std::string> ReadAll(ByteSource& source, std::size_t limit) {
  constexpr std::size_t kChunk = std::size_t{1} << 16;
  std::string all;
  std::size_t used = 0;
  while (true) {
    if (all.size() - used < kChunk)
      all.resize(std::max(all.size() + all.size() / 2, used + kChunk));
    RINGWARD_ASSIGN(const std::size_t n, source.Read(std::span(all).subspan(used)));
    if (n == 0) break;
    used += n;
    if (used > limit) {
      return Error(Code::kInvalidInput,
                   source.name() + ": more than " + std::to_string(limit) + " bytes");
    }
  }
  all.resize(used);
  return all;
}

}  // namespace ringward::io
