#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace ringward::launch {

using Environment = std::map<std::string, std::string>;

/// This process's environment.
Environment CurrentEnvironment();

struct SpawnOptions {
  std::vector<std::string> command;  ///< path of the program, then its arguments
  Environment environment;
  int in = -1;   ///< becomes the child's descriptor 0; -1 = /dev/null
  int out = -1;  ///< likewise 1
  int err = -1;  ///< likewise 2
  /// The kernel sends SIGKILL when the thread that spawned it ends: spawn from a thread that stays.
  bool die_with_parent = true;
  bool new_session = false;  ///< setsid(); else its own process group
};

/// Starts a program; a program that cannot be executed is an error here, not a dead child.
/// The child has default signal dispositions and an empty signal mask, and inherits no other
/// descriptors that are marked close-on-exec. Errors: kResource.
Result<pid_t> Spawn(const SpawnOptions& options);

/// Runs a program and returns what it wrote (at most 64 KiB), whatever its status. Errors:
/// kResource (cannot be started), kTimeout (killed after `limit`).
Result<std::string> Capture(const std::vector<std::string>& command,
                            std::chrono::milliseconds limit);

/// The executable `name` in PATH, or "".
std::string FindInPath(const std::string& name);

/// A helper program of this installation: beside this executable, or in ../libexec/ringward.
/// Errors: kResource, with the places looked at.
Result<std::string> FindHelper(const std::string& name);

/// A shared library of this installation, in the folder of libraries beside that of this
/// executable; "" where it is not installed.
std::string FindLibrary(const std::string& file);

/// "SIGKILL" for 9; "signal 70" for what has no name.
std::string SignalName(int signal);

/// "exited with status 3" or "was killed by SIGSEGV (core dumped)", from waitpid()'s status.
std::string DescribeExit(int wait_status);

/// Whether the process's initial environment holds `name`=`value`. False for what cannot be read.
bool HasTag(pid_t pid, const std::string& name, const std::string& value);

/// A descriptor that polls readable once the process is dead; empty if it is gone or is another
/// process by now (start time differs; 0 = do not compare).
Fd OpenProcess(pid_t pid, std::uint64_t start_time);

/// Sends SIGKILL to every process of this user whose initial environment holds `name`=`value`,
/// until none is left or `limit` passes; returns how many are left. Stopped processes die too. This
/// reaches what a rank started itself, whoever its parent is by now. Never kills the caller.
int KillTagged(const std::string& name, const std::string& value, std::chrono::milliseconds limit);

}  // namespace ringward::launch
