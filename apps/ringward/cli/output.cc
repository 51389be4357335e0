#include "ringward/cli/output.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/interrupt.h"
#include "base/system_error.h"

namespace ringward::cli {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16;

}  // namespace

Output::~Output() { Flush(); }

void Output::Write(std::string_view text) {
  if (failed()) return;
  buffer_.append(text);
  if (buffer_.size() >= kBufferBytes) Flush();
}

void Output::WriteJson(const Json& document) { Write(DumpJson(document) + "\n"); }

void Output::Flush() {
  std::string_view rest = buffer_;
  while (!rest.empty() && !failed()) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // a pipe that someone else made non-blocking
      pollfd ready{.fd = fd_, .events = POLLOUT, .revents = 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR || InterruptRequested()) {
      error_ = errno;
    }
  }
  buffer_.clear();
}

bool Output::reader_left() const { return error_ == EPIPE; }

void Output::NoteReaderLeft() {
  if (!failed()) error_ = EPIPE;
}

Status Output::Finish() {
  Flush();
  if (!failed()) return Ok();
  if (error_ == EINTR) return Error(Code::kInterrupted, "interrupted");
  return SystemError("standard output", error_);
}

}  // namespace ringward::cli
