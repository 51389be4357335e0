#include "watch/alerts/alert_sender.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "base/log.h"

namespace ringward::watch {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr std::size_t kWaitingMost = 256;
constexpr milliseconds kFirstPause{500};
constexpr milliseconds kLongestPause{60'000};
constexpr milliseconds kTriedFor{600'000};

}  // namespace

/// One receiver, what waits for it, and its thread.
class AlertSender::Lane {
 public:
  Lane(std::unique_ptr<Receiver> receiver, const Clock& clock)
      : receiver_(std::move(receiver)), clock_(clock), thread_([this] { Run(); }) {}
  ~Lane() { Stop(milliseconds(0)); }

  void Post(const Notice& notice) {
    if (notice.reminder && !receiver_->wants_reminders()) return;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      if (notice.reminder) std::erase_if(waiting_, [](const Notice& n) { return n.reminder; });
      if (waiting_.size() == kWaitingMost) {
        waiting_.pop_front();
        ++counts_.dropped;
      }
      waiting_.push_back(notice);
    }
    changed_.notify_all();
  }

  void Stop(milliseconds patience) {
    {
      const std::lock_guard lock(mutex_);
      if (!stopping_) give_up_ = Steady::now() + patience;
      stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  Counts counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      if (stopping_ && Steady::now() >= give_up_) {
        counts_.dropped += waiting_.size();
        return;
      }
      const Notice notice = std::move(waiting_.front());
      waiting_.pop_front();
      Deliver(notice, lock);
    }
  }

  void Deliver(const Notice& notice, std::unique_lock<std::mutex>& lock) {
    const auto until = Steady::now() + kTriedFor;
    for (milliseconds pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
      lock.unlock();
      const Status sent = receiver_->Send(notice, clock_.WallNow());
      lock.lock();
      if (sent) {
        ++counts_.sent;
        if (std::exchange(failing_, false)) LogInfo("alerts reach " + receiver_->name() + " again");
        return;
      }
      ++counts_.failed;
      if (!std::exchange(failing_, true))
        LogWarning("alerts do not reach " + receiver_->name() + ": " + sent.error().what());
      const bool again =
          sent.error().code() == Code::kUnavailable && !stopping_ && !notice.reminder;
      if (!again || Steady::now() + pause > until) {
        counts_.dropped += 1;
        return;
      }
      changed_.wait_for(lock, pause, [this] { return stopping_; });
    }
  }

  std::unique_ptr<Receiver> receiver_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Notice> waiting_;
  Counts counts_;
  bool failing_ = false;
  bool stopping_ = false;
  Steady::time_point give_up_;
  std::thread thread_;  ///< last: it uses what stands above
};

AlertSender::AlertSender(std::vector<std::unique_ptr<Receiver>> receivers, const Clock& clock) {
  for (auto& receiver : receivers)
    lanes_.push_back(std::make_unique<Lane>(std::move(receiver), clock));
}

AlertSender::~AlertSender() = default;

void AlertSender::Post(const Notice& notice) {
  for (const auto& lane : lanes_) lane->Post(notice);
}

void AlertSender::Stop(milliseconds patience) {
  for (const auto& lane : lanes_) lane->Stop(patience);
}

AlertSender::Counts AlertSender::counts() const {
  Counts all;
  for (const auto& lane : lanes_) {
    const Counts one = lane->counts();
    all.sent += one.sent;
    all.failed += one.failed;
    all.dropped += one.dropped;
  }
  return all;
}

}  // namespace ringward::watch
