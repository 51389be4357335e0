#pragma once

#include <chrono>

namespace ringward {

/// Source of time, passed in so that tests and replay choose it. Implementations are thread-safe.
class Clock {
 public:
  using Duration = std::chrono::nanoseconds;
  virtual ~Clock() = default;
  /// Monotonic time since an arbitrary origin: for durations and deadlines.
  virtual Duration Now() const = 0;
  /// Time since the Unix epoch: for people and files, never for durations.
  virtual Duration WallNow() const = 0;
};

/// The machine's clocks. The returned object lives for the whole program.
const Clock& SystemClock();

/// A clock that moves only when told. Not safe for concurrent use.
class ManualClock final : public Clock {
 public:
  Duration Now() const override { return now_; }
  Duration WallNow() const override { return now_; }
  void Advance(Duration by) { now_ += by; }

 private:
  Duration now_{};
};

}  // namespace ringward
