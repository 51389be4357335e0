#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "base/options.h"
#include "base/result.h"

namespace ringward::cli {

/// The options of every subcommand that can have a watcher beside its ranks.
struct WatchBesideOptions {
  bool watch = false;
  std::string record;  ///< a new file for the recording; empty: none
  double false_alarms_per_day = 1.0;

  bool wanted() const { return watch || !record.empty(); }
};

/// Binds --watch, --record and --false-alarms-per-day under the heading "Watching".
void AddWatchBesideOptions(OptionTable& table, WatchBesideOptions& options);

/// A `ringward watch` in a process of its own beside a job of this process, which prints what it
/// finds to standard error. A process, because the launcher forks and a thread would be in its way.
/// It dies with this process. Not safe for concurrent use.
class WatchBeside {
 public:
  explicit WatchBeside(WatchBesideOptions options) : options_(std::move(options)) {}
  ~WatchBeside() { End(); }
  WatchBeside(const WatchBeside&) = delete;
  WatchBeside& operator=(const WatchBeside&) = delete;

  /// What can be said before the job begins. Errors: kInvalidInput (the recording exists).
  Status Check() const;
  /// Starts the watcher of what the launcher starts under `job_id`. Where that fails the job runs
  /// unwatched, and a warning says so.
  void Start(const std::string& job_id);
  /// The user ends the job: the watcher ends first, or it would tell of ranks that are killed.
  void Leave();
  /// The job has ended: the watcher tells the rest and ends, within seconds. Idempotent.
  void End();

 private:
  WatchBesideOptions options_;
  bool Reaped(std::chrono::milliseconds patience);

  pid_t watcher_ = -1;
};

}  // namespace ringward::cli
