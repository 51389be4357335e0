#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace ringward::comm {

/// A thread that notices when a call takes longer than its deadline, for engines whose calls cannot
/// watch the clock themselves. The caller pays one atomic store to arm and one to disarm: no clock,
/// no lock, no system call. The thread looks up every `tick`, so it fires between the deadline
/// and two ticks after it; time runs from when it first sees the call.
class DeadlineWatch {
 public:
  struct Hooks {
    /// The call `sequence` has passed its deadline of `timeout`; called once per call, on the
    /// watch's thread. May end the process.
    std::function<void(std::uint64_t sequence, std::chrono::milliseconds timeout)> expired;
    /// May be empty: called on every tick during which one and the same call was under way.
    std::function<void(std::uint64_t sequence)> waiting;
  };

  DeadlineWatch(std::chrono::milliseconds tick, Hooks hooks);
  ~DeadlineWatch();
  DeadlineWatch(const DeadlineWatch&) = delete;
  DeadlineWatch& operator=(const DeadlineWatch&) = delete;

  /// `sequence` differs from that of the call before. Timeouts are capped at 4.6 hours.
  void Arm(std::uint64_t sequence, std::chrono::milliseconds timeout) {
    constexpr std::int64_t kMaxMs = (1 << kTimeoutBits) - 1;
    const auto ms = static_cast<std::uint64_t>(std::min(timeout.count(), kMaxMs));
    armed_.store(((sequence + 1) << kTimeoutBits) | ms, std::memory_order_release);
  }
  void Disarm() { armed_.store(0, std::memory_order_release); }

 private:
  static constexpr int kTimeoutBits = 24;
  void Run();

  const std::chrono::milliseconds tick_;
  const Hooks hooks_;
  std::atomic<std::uint64_t> armed_{0};  // sequence + 1 and timeout; 0 = no call
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;  // last: everything above exists when it starts
};

}  // namespace ringward::comm
