#pragma once

#include <atomic>

namespace ringward {

/// Makes SIGINT, SIGTERM and SIGHUP end the process with exit code 130 (docs/cli.md), but for those
/// that were ignored when it started (as nohup does). Call once, early in main. Children started by
/// exec get the default action back by themselves.
void InstallInterruptHandling();

/// While one lives, the first of these signals only raises the flag, so that work can end in good
/// order; the second one ends the process. Scopes may nest; create and destroy them on one thread.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
};

/// Readable from the moment the flag is raised, for poll() beside what is waited for: a signal that
/// comes just before a wait, or to another thread, ends that wait too. -1 where no handling is
/// installed, which poll() passes over.
int InterruptFd();

/// The flag, for loops that check it between steps. Never reset.
const std::atomic<bool>& InterruptRequested();

}  // namespace ringward
