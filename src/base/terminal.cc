#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <string>

#include "base/text_value.h"

namespace ringward {
namespace {

struct StderrState {
  std::mutex mutex;
  bool transient_shown = false;
  std::atomic<std::size_t> declared_columns{0};  ///< 0: ask the descriptor
};

/// Leaked on purpose: threads may log while static objects are destroyed.
StderrState& Stderr() {
  static auto* const state = new StderrState;
  return *state;
}

void WriteAll(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

constexpr std::string_view kEraseLine = "\r\x1b[K";

}  // namespace

void DeclareStderrTerminal(std::size_t columns) { Stderr().declared_columns = columns; }

bool IsTerminal(int fd) {
  return ::isatty(fd) == 1 || (fd == STDERR_FILENO && Stderr().declared_columns > 0);
}

std::size_t TerminalWidth(int fd, std::size_t fallback) {
  if (const std::size_t declared = Stderr().declared_columns; fd == STDERR_FILENO && declared > 0) {
    return declared;
  }
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const auto width = ParseInteger<std::size_t>(columns == nullptr ? "" : columns);
  constexpr std::size_t kWidest = 1000;
  return width && *width > 0 && *width <= kWidest ? *width : fallback;
}

bool WantsColor(int fd) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  return IsTerminal(fd) && term != nullptr && std::string_view(term) != "dumb";
}

std::size_t DisplayWidth(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++width;
  }
  return width;
}

void WriteStderrLine(std::string_view line) {
  StderrState& state = Stderr();
  std::string text;
  const std::scoped_lock lock(state.mutex);
  if (state.transient_shown) text += kEraseLine;
  state.transient_shown = false;
  text.append(line).append("\n");
  WriteAll(text);  // in one write, so that lines of many processes do not mix
}

void ShowTransientLine(std::string_view line) {
  StderrState& state = Stderr();
  const std::scoped_lock lock(state.mutex);
  state.transient_shown = true;
  // Ending in a carriage return, so that a launcher that passes whole lines on passes it at once.
  WriteAll(std::string("\r").append(line).append("\x1b[K\r"));
}

void ClearTransientLine() {
  StderrState& state = Stderr();
  const std::scoped_lock lock(state.mutex);
  if (state.transient_shown) WriteAll(kEraseLine);
  state.transient_shown = false;
}

}  // namespace ringward
