#include "comm/deadline_watch.h"

#include <utility>

namespace ringward::comm {

DeadlineWatch::DeadlineWatch(std::chrono::milliseconds tick, Hooks hooks)
    : tick_(tick), hooks_(std::move(hooks)), thread_([this] { Run(); }) {}

DeadlineWatch::~DeadlineWatch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

void DeadlineWatch::Run() {
  using Clock = std::chrono::steady_clock;
  std::uint64_t seen = 0;
  Clock::time_point since{};
  bool fired = false;
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, tick_, [this] { return stop_; })) {
    const std::uint64_t armed = armed_.load(std::memory_order_acquire);
    if (armed != seen) {
      seen = armed;
      since = Clock::now();
      fired = false;
      continue;
    }
    if (armed == 0 || fired) continue;
    const std::uint64_t sequence = (armed >> kTimeoutBits) - 1;
    const std::chrono::milliseconds timeout(armed & ((1U << kTimeoutBits) - 1));
    fired = Clock::now() - since >= timeout;
    // Unlocked: a hook may take its time, and stopping must not wait for more than that.
    lock.unlock();
    if (hooks_.waiting) hooks_.waiting(sequence);
    if (fired && armed_.load(std::memory_order_acquire) == armed) {
      hooks_.expired(sequence, timeout);
    }
    lock.lock();
  }
}

}  // namespace ringward::comm
