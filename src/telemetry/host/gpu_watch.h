#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "telemetry/host/nvml.h"

namespace ringward::telemetry {

/// What the machine's GPUs do. The driver is asked on a thread of its own, because it may never
/// answer: after `deadline` its figures are missing until it does, and the log says so once.
/// Without the library or a GPU there is neither thread nor word. Not safe for concurrent use.
class GpuWatch {
 public:
  /// `library` is NVML's path or name; empty: no GPUs.
  explicit GpuWatch(const std::string& library, Clock::Duration deadline = std::chrono::seconds(5));
  /// Does not wait for a driver that hangs: its thread then ends with the program.
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  /// Takes what the driver has answered, and asks it anew unless it still owes an answer; never
  /// waits. `now` is of a monotonic clock.
  void Ask(Clock::Duration now);
  /// Waits until the driver owes nothing; false where it has not within `most`.
  bool Settle(std::chrono::milliseconds most) const;

  /// As of the newest answer, one Ask() old; empty where there is none.
  const std::vector<GpuState>& gpus() const { return gpus_; }
  bool hangs() const { return hangs_; }

 private:
  struct Shared;
  static void Run(const std::shared_ptr<Shared>& shared);

  const Clock::Duration deadline_;
  std::shared_ptr<Shared> shared_;  ///< none: no library
  Clock::Duration asked_at_{};
  bool hangs_ = false;
  bool said_hangs_ = false;
  std::vector<GpuState> gpus_;
};

}  // namespace ringward::telemetry
