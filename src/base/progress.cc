#include "base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/terminal.h"

namespace ringward {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kRedrawEvery{100};
constexpr seconds kLineEvery{10};
constexpr std::size_t kWidestGauge = 30;
constexpr std::size_t kNarrowestGauge = 8;

/// 1234567 -> "1.23M".
std::string Short(double value) {
  constexpr std::array<const char*, 5> kSuffix = {"", "k", "M", "G", "T"};
  std::size_t i = 0;
  while (value >= 999.5 && i + 1 < kSuffix.size()) {
    value /= 1000;
    ++i;
  }
  if (i == 0 && value == std::floor(value)) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}{}", value, kSuffix[i]);
}

/// "42s", "3m05s", "2h07m".
std::string ShortTime(double s) {
  if (!(s < 360'000'000.0)) return "?";
  const auto whole = static_cast<std::int64_t>(std::ceil(s));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
}

std::string Gauge(double fraction, std::size_t width) {
  const auto filled = static_cast<std::size_t>(std::lround(fraction * static_cast<double>(width)));
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "] ";
}

std::string Cut(std::string line, std::size_t width) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool begins_letter = (static_cast<unsigned char>(line[i]) & 0xC0U) != 0x80U;
    if (begins_letter && ++columns > width) return line.substr(0, i);
  }
  return line;
}

}  // namespace

ProgressStyle DetectProgressStyle(bool quiet) {
  if (quiet) return ProgressStyle::kOff;
  return IsTerminal(STDERR_FILENO) ? ProgressStyle::kBar : ProgressStyle::kLines;
}

std::string ProgressLine(const std::string& task, const std::string& unit, std::uint64_t total,
                         const ProgressState& state, Clock::Duration elapsed, ProgressStyle style,
                         std::size_t width) {
  const double done = static_cast<double>(state.done);
  const double spent = duration<double>(elapsed).count();
  const double rate = spent > 0 ? done / spent : 0;
  std::string text;
  double fraction = 0;
  if (total > 0) {
    fraction = std::min(1.0, done / static_cast<double>(total));
    text += fmt::format("{:3.0f} %  ", std::floor(fraction * 100));
  } else {
    text += fmt::format("{} {}  ", Short(done), unit);
  }
  if (!state.note.empty()) text += state.note + "  ";
  text += fmt::format("{} {}/s", Short(rate), unit);
  if (state.loss) text += fmt::format("  loss {:.4g}", *state.loss);
  if (total > 0 && rate > 0 && fraction < 1) {
    text += fmt::format("  {} left", ShortTime((static_cast<double>(total) - done) / rate));
  }
  std::string head = task + " ";
  const std::size_t used = DisplayWidth(head) + DisplayWidth(text) + 3;  // "[", "] "
  if (style == ProgressStyle::kBar && total > 0 && used + kNarrowestGauge <= width) {
    head += Gauge(fraction, std::min(kWidestGauge, width - used));
  }
  return Cut(head + text, width);
}

Progress::Progress(ProgressStyle style, const Clock& clock, std::string task, std::string unit,
                   std::uint64_t total)
    : style_(style),
      clock_(clock),
      task_(std::move(task)),
      unit_(std::move(unit)),
      total_(total),
      start_(clock.Now()) {}

Progress::~Progress() {
  if (style_ == ProgressStyle::kBar && !finished_) ClearTransientLine();
}

bool Progress::IsDue(Clock::Duration now) const {
  if (style_ == ProgressStyle::kBar) return !drawn_ || now - *drawn_ >= kRedrawEvery;
  return now - drawn_.value_or(start_) >= kLineEvery;
}

void Progress::Draw(Clock::Duration now) {
  const bool bar = style_ == ProgressStyle::kBar;
  // The last column stays free: some terminals wrap when it is written.
  const std::size_t width = bar ? TerminalWidth(STDERR_FILENO) - 1 : std::size_t{200};
  const std::string line = ProgressLine(task_, unit_, total_, state_, now - start_, style_, width);
  if (bar) {
    ShowTransientLine(line);
  } else {
    WriteStderrLine(line);
  }
  drawn_ = now;
  stale_ = false;
}

void Progress::Update(const ProgressState& state) {
  if (style_ == ProgressStyle::kOff || finished_) return;
  const Clock::Duration now = clock_.Now();
  if (IsDue(now)) {
    state_ = state;
    Draw(now);
  } else if (style_ == ProgressStyle::kLines) {
    state_ = state;
    stale_ = true;
  }
}

void Progress::Finish() {
  if (finished_ || style_ == ProgressStyle::kOff) return;
  finished_ = true;
  if (style_ == ProgressStyle::kBar) ClearTransientLine();
  // A short task that never printed stays silent; a long one ends with its final figures.
  if (style_ == ProgressStyle::kLines && drawn_ && stale_) Draw(clock_.Now());
}

}  // namespace ringward
