#include "io/random_access.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/system_error.h"

namespace ringward::io {
namespace {

Error EndsEarly(const std::string& name) { return {Code::kCorrupt, name + ": ends early"}; }

class File final : public RandomAccess {
 public:
  File(int fd, std::uint64_t size, std::string name)
      : fd_(fd), size_(size), name_(std::move(name)) {}
  ~File() override { close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::uint64_t size() const override { return size_; }
  const std::string& name() const override { return name_; }

  Status ReadAt(std::uint64_t offset, std::span<char> out) const override {
    while (!out.empty()) {
      const ssize_t n = pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        return SystemError(name_ + ": cannot read", errno);
      }
      if (n == 0) return EndsEarly(name_);
      offset += static_cast<std::uint64_t>(n);
      out = out.subspan(static_cast<std::size_t>(n));
    }
    return Ok();
  }

 private:
  int fd_;
  std::uint64_t size_;
  std::string name_;
};

class Memory final : public RandomAccess {
 public:
  Memory(std::string bytes, std::string name) : bytes_(std::move(bytes)), name_(std::move(name)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  const std::string& name() const override { return name_; }
  Status ReadAt(std::uint64_t offset, std::span<char> out) const override {
    if (offset > bytes_.size() || bytes_.size() - offset < out.size()) return EndsEarly(name_);
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
    return Ok();
  }

 private:
  std::string bytes_;
  std::string name_;
};

class SectionSource final : public ByteSource {
 public:
  SectionSource(std::shared_ptr<const RandomAccess> file, std::uint64_t offset, std::uint64_t size)
      : file_(std::move(file)), offset_(offset), left_(size) {}
  const std::string& name() const override { return file_->name(); }
  Result<std::size_t> Read(std::span<char> out) override {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), left_));
    RINGWARD_TRY(file_->ReadAt(offset_, out.first(n)));
    offset_ += n;
    left_ -= n;
    return n;
  }

 private:
  std::shared_ptr<const RandomAccess> file_;
  std::uint64_t offset_;
  std::uint64_t left_;
};

}  // namespace

Result<std::shared_ptr<const RandomAccess>> OpenRandomAccess(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return PathError(path, "open", errno);
  }
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return Error(Code::kInvalidInput, path + ": is not a regular file");
  }
  return std::shared_ptr<const RandomAccess>(
      std::make_shared<File>(fd, static_cast<std::uint64_t>(info.st_size), path));
}

std::shared_ptr<const RandomAccess> RandomAccessFromMemory(std::string bytes, std::string name) {
  return std::make_shared<Memory>(std::move(bytes), std::move(name));
}

std::unique_ptr<ByteSource> Section(std::shared_ptr<const RandomAccess> file, std::uint64_t offset,
                                    std::uint64_t size) {
  return std::make_unique<SectionSource>(std::move(file), offset, size);
}

}  // namespace ringward::io
