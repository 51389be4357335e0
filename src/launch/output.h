#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace ringward::launch {

struct OutputOptions {
  int ranks = 1;
  std::string folder;   ///< the job's; the named pipes are made here
  std::string log_dir;  ///< every rank's output also goes to LOG_DIR/rank-R.log; empty = no
  bool tags = false;    ///< lines of rank R begin with "[R] "
  int in = -1;          ///< what rank 0 reads as standard input; -1 = it reads nothing
  int out = 1;          ///< where the ranks' standard output goes
  int err = 2;          ///< where their standard error goes
};

/// Carries the ranks' output to the launcher's, on a thread of its own, so that a reader who stops
/// reading (a pager) never stops the supervision.
///
/// Each rank writes to two named pipes in the job's folder, whoever started it. Lines are passed on
/// whole, so that ranks do not mix within a line; a part of a line follows when nothing came for a
/// while. The last lines of every rank are kept for the failure report.
class Output {
 public:
  static constexpr std::size_t kTailLines = 20;       ///< kept per rank
  static constexpr std::size_t kTailLineBytes = 400;  ///< longer lines are cut
  static constexpr int kEngine = -1;  ///< "rank" of what mpirun itself says; kept, not passed on

  /// Makes the pipes and log files and starts the thread. Errors: kResource.
  static Result<std::unique_ptr<Output>> Start(const OutputOptions& options);
  virtual ~Output() = default;

  /// A descriptor for what mpirun writes itself; close-on-exec, owned by Output.
  virtual int engine_fd() const = 0;

  /// Passes on what is still in the pipes and ends the thread. `patience` bounds how long a reader
  /// who does not read is waited for. Idempotent; call it when the ranks are dead.
  virtual void Stop(std::chrono::milliseconds patience) = 0;

  /// The last lines of a rank (or kEngine), oldest first. Call after Stop().
  virtual std::vector<std::string> Tail(int rank) const = 0;

  /// kResource, "standard output: No space left on device", once a stream cannot be written; what
  /// comes after is dropped. Thread-safe.
  virtual Status status() const = 0;
  /// True if that is because whoever read it has gone. Thread-safe.
  virtual bool reader_left() const = 0;
};

/// Paths of a rank's pipes, for the keeper that opens the other ends.
std::string OutPipe(const std::string& folder, int rank);
std::string ErrPipe(const std::string& folder, int rank);
std::string InPipe(const std::string& folder);

}  // namespace ringward::launch
