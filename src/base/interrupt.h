#pragma once

#include <atomic>

namespace ringward {

/// Makes SIGINT and SIGTERM end the process with exit code 130 (docs/cli.md). Call once, early
/// in main. Children started by exec get the default action back by themselves.
void InstallInterruptHandling();

/// While one lives, the first SIGINT or SIGTERM only raises the flag, so that work can end in good
/// order; the second one ends the process. Scopes may nest; create and destroy them on one thread.
class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
};

/// The flag, for loops that check it between steps. Never reset.
const std::atomic<bool>& InterruptRequested();

}  // namespace ringward
