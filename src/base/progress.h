#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"

namespace ringward {

/// Where a Progress is shown.
enum class ProgressStyle {
  kOff,
  kBar,    ///< one line of a terminal, redrawn in place at most 10 times a second
  kLines,  ///< a plain line now and then, for log files and pipes
};

/// The style for this process's standard error: kOff when `quiet`, kBar on a terminal, else kLines.
ProgressStyle DetectProgressStyle(bool quiet);

/// What the bar shows at one moment.
struct ProgressState {
  std::uint64_t done = 0;      ///< units finished since the start, e.g. rows over all epochs
  std::string note;            ///< e.g. "epoch 3/50"
  std::optional<double> loss;  ///< shown as "loss 0.0123"
};

/// The progress of one long task on standard error, for one process (rank 0). Cheap to update every
/// step: a call between redraws costs a clock reading. Not safe for concurrent use; log lines from
/// other threads may come in between.
///
///   Progress progress(DetectProgressStyle(quiet), SystemClock(), "train", "rows", total_rows);
///   progress.Update({.done = rows, .note = "epoch 3/50", .loss = loss});
class Progress {
 public:
  /// `total` = 0: the end is not known. `clock` must outlive the object.
  Progress(ProgressStyle style, const Clock& clock, std::string task, std::string unit,
           std::uint64_t total);
  /// Erases the bar.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Update(const ProgressState& state);
  /// Ends the display: erases the bar; in kLines prints the last state if it was not printed yet.
  void Finish();

 private:
  bool IsDue(Clock::Duration now) const;
  void Draw(Clock::Duration now);

  ProgressStyle style_;
  const Clock& clock_;
  std::string task_;
  std::string unit_;
  std::uint64_t total_;
  Clock::Duration start_;
  std::optional<Clock::Duration> drawn_;
  ProgressState state_;
  bool stale_ = false;  ///< state_ is newer than what was drawn
  bool finished_ = false;
};

/// The text of one progress line of at most `width` columns (pure, for tests). `elapsed` is the
/// time since the start. In a bar the gauge takes what the text leaves; narrow lines are cut.
std::string ProgressLine(const std::string& task, const std::string& unit, std::uint64_t total,
                         const ProgressState& state, Clock::Duration elapsed, ProgressStyle style,
                         std::size_t width);

}  // namespace ringward
