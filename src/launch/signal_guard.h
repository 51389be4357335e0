#pragma once

#include "launch/process.h"

namespace ringward::launch {

/// Takes over SIGINT, SIGTERM and SIGHUP while it lives: they make `fd()` readable and are counted,
/// instead of ending the process. One at a time per process. SIGHUP stays ignored if it was
/// (nohup).
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  int fd() const { return read_end_.get(); }
  int count() const;        ///< signals so far
  int last_signal() const;  ///< 0 = none yet
  void Drain();             ///< makes fd() unreadable until the next signal

 private:
  Fd read_end_;
  Fd write_end_;
};

}  // namespace ringward::launch
