#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/engine_choice.h"
#include "launch/process.h"

namespace ringward::launch {

/// A program to run as `ranks` processes of this machine.
struct JobSpec {
  int ranks = 1;
  EngineChoice engine{"local", false, ""};  ///< from ChooseEngine()
  std::string mpirun;                       ///< path; needed when engine is mpi
  std::string keeper;                       ///< path of ringward-keeper, see FindHelper()
  std::vector<std::string> command;         ///< path of the program, then its arguments
  Environment environment;                  ///< added to this process's own
  /// Given to the ranks; also how long a rank may be frozen (stopped, or without a heartbeat)
  /// before it ends the job. 0 = frozen ranks do not end the job.
  std::chrono::milliseconds collective_timeout{30'000};
  /// For a rank to join the group, counted from the start of the job. What comes after, e.g. rank
  /// 0 reading data before the first collective, is not limited. 0 = no limit.
  std::chrono::milliseconds start_timeout{60'000};
  /// Between SIGTERM and SIGKILL when the user ends the job; ranks of a failed job get 1 s of it.
  std::chrono::milliseconds grace{3'000};
  /// The program is one of Ringward's own: it tells the board when it has joined the group.
  /// A shared library that the ranks' programs load first (LD_PRELOAD), and no helper of the job
  /// does; empty = none.
  std::string preload;
  bool reports_to_board = true;
  bool forward_input = false;  ///< our standard input goes to rank 0; else all ranks read nothing
  std::string log_dir;         ///< folder for one log file per rank; empty = none
  /// What a rank writes before it is renamed into place: PREFIX<pid of the rank>-<anything>.
  /// Removed at the end of the job where a rank could not do it itself. Absolute; empty = nothing.
  std::string temporaries;
  bool tags = false;  ///< lines of rank R begin with "[R] "
  /// Called once, before any rank starts, with the job's id: what every process of it has in
  /// RINGWARD_JOB_ID.
  std::function<void(const std::string& id)> on_id;
  /// Called once when the user ends the job, before its ranks are told.
  std::function<void()> on_interrupt;
  std::string folder_base;  ///< where the job's folder is made; empty = /dev/shm, TMPDIR or /tmp
  int out = 1;              ///< where the ranks' standard output goes
  int err = 2;              ///< where their standard error goes
};

/// For all ranks to join: a minute, and where there are more than eight ranks a core, a minute for
/// each eight.
std::chrono::milliseconds StartTimeout(int ranks, const Cores& cores);

/// How a job ended.
struct JobResult {
  /// 0 = every rank did its work; the culprit's own exit status; kExitCouldNotRun if it was killed
  /// or froze; kExitInterrupted if the user ended the job.
  int exit_code = 0;
  int culprit = -1;  ///< the first rank to fail; -1 = none, or undecided
  /// Whoever read our output has gone: no failure to speak of; programs end quietly then.
  bool reader_left = false;
  std::string message;  ///< for standard error, lines without the last newline; empty = nothing
};

/// Runs the job to its end. Watches the ranks: when one fails, dies or freezes, all are ended and
/// the first to fail is named with its exit status and last lines. SIGINT, SIGTERM and SIGHUP end
/// the job gracefully; a second one at once. When this returns, or this process dies in any way,
/// no process, port, shared-memory segment or folder of the job is left (a janitor process sees to
/// it).
///
/// Call it from a thread that lives until it returns, one job at a time per process; it takes over
/// the three signals meanwhile. Errors: kInvalidInput (spec), kResource (a process or file cannot
/// be made). The job's own failures are a JobResult, not an Error.
Result<JobResult> RunJob(const JobSpec& spec);

}  // namespace ringward::launch
