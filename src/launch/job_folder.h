#pragma once

#include <string>

#include "base/result.h"
#include "launch/process.h"

namespace ringward::launch {

/// The folder of one job: board, output pipes, and whatever the engine puts into the file system
/// (Open MPI's session folder and shared-memory segments). In /dev/shm where there is room, so that
/// segments are memory and not writes to a disk; else in TMPDIR or /tmp.
///
/// A janitor process watches over it: it is told of the folder before the folder exists, and when
/// this process ends in any way without Close(), it kills every process of the job, removes what
/// its ranks had half written, and removes the folder. So nothing is left even after SIGKILL.
class JobFolder {
 public:
  /// `keeper` is the path of ringward-keeper; `base` overrides where the folder is made.
  /// Errors: kResource.
  static Result<JobFolder> Create(int ranks, const std::string& keeper, const std::string& base);
  JobFolder(JobFolder&&) = default;
  JobFolder& operator=(JobFolder&&) = delete;
  ~JobFolder() { Close(); }

  const std::string& path() const { return path_; }
  const std::string& job_id() const { return job_id_; }

  /// Says what the ranks of this job call their temporaries (JobSpec::temporaries): Close(), or the
  /// janitor, removes those named after a rank on the folder's board. Errors: kResource.
  Status NoteTemporaries(const std::string& prefix) const;

  /// Kills what is left of the job, removes temporaries and the folder, ends the janitor.
  /// Idempotent.
  void Close();

 private:
  JobFolder() = default;
  std::string path_;
  std::string job_id_;
  Fd janitor_link_;
  pid_t janitor_ = 0;
};

/// The janitor: reads standard input to its end; unless it got kJanitorDone, does what JobFolder
/// promises. Returns the process's exit status.
int RunJanitor(const std::string& folder, const std::string& job_id);
inline constexpr char kJanitorDone = 'd';

}  // namespace ringward::launch
