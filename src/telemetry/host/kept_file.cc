#include "telemetry/host/kept_file.h"

#include <fcntl.h>
#include <unistd.h>

namespace ringward::telemetry {

KeptFile::KeptFile(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

std::optional<std::string_view> KeptFile::Read(std::vector<char>& buffer) const {
  if (!fd_) return std::nullopt;
  std::size_t size = 0;
  // The kernel gives some files a page at a time.
  while (size < buffer.size()) {
    const ssize_t got =
        pread(fd_.get(), buffer.data() + size, buffer.size() - size, static_cast<off_t>(size));
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return std::string_view(buffer.data(), size);
}

}  // namespace ringward::telemetry
