#pragma once

#include <signal.h>

namespace ringward {

/// While one lives, SIGHUP asks for files to be read again instead of ending the process, also
/// where it was ignored before. One at a time.
class ReloadScope {
 public:
  ReloadScope();
  ~ReloadScope();
  ReloadScope(const ReloadScope&) = delete;
  ReloadScope& operator=(const ReloadScope&) = delete;
  /// Whether SIGHUP came since the last call.
  static bool TakeRequest();

 private:
  struct sigaction before_ {};
};

}  // namespace ringward
