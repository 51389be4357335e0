#include "telemetry/host/gpu_watch.h"

#include <signal.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/log.h"

namespace ringward::telemetry {
namespace {

constexpr std::chrono::milliseconds kPatienceAtEnd{200};

/// Signals are for the thread that waits for them.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

/// Outlives its watch where the driver hangs.
struct GpuWatch::Shared {
  explicit Shared(Nvml library) : nvml(library) {}
  const Nvml nvml;
  std::mutex mutex;
  std::condition_variable changed;
  bool owes = false;  ///< an answer
  bool stop = false;
  bool off = false;  ///< the driver has said that there is nothing to ask
  std::optional<std::vector<GpuState>> answer{};
  std::thread thread{};
};

GpuWatch::GpuWatch(const std::string& library, Clock::Duration deadline) : deadline_(deadline) {
  if (library.empty()) return;
  auto nvml = Nvml::Load(library);
  if (!nvml) {
    if (nvml.error().code() != Code::kUnavailable)
      LogWarning("GPUs are not watched: " + nvml.error().what());
    return;
  }
  shared_ = std::make_shared<Shared>(*nvml);
  const NoSignals block;
  shared_->thread = std::thread([shared = shared_] { Run(shared); });
}

GpuWatch::~GpuWatch() {
  if (!shared_) return;
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  shared_->changed.notify_all();
  const bool answered =
      shared_->changed.wait_for(lock, kPatienceAtEnd, [&] { return !shared_->owes; });
  lock.unlock();
  if (answered) {
    shared_->thread.join();
  } else {
    shared_->thread.detach();
  }
}

void GpuWatch::Run(const std::shared_ptr<Shared>& shared) {
  bool begun = false;
  std::unique_lock lock(shared->mutex);
  while (true) {
    shared->changed.wait(lock, [&] { return shared->stop || shared->owes; });
    if (shared->stop) break;
    lock.unlock();
    const Status status = begun ? Ok() : shared->nvml.Begin();
    begun = begun || static_cast<bool>(status);
    std::vector<GpuState> states;
    if (begun) states = shared->nvml.Read();
    if (!status && status.error().code() != Code::kUnavailable)
      LogWarning("GPUs are not watched: " + status.error().what());
    lock.lock();
    shared->off = !begun;
    shared->answer = std::move(states);
    shared->owes = false;
    shared->changed.notify_all();
  }
  shared->owes = false;
  shared->changed.notify_all();
  lock.unlock();
  if (begun) shared->nvml.End();
}

void GpuWatch::Ask(Clock::Duration now) {
  if (!shared_) return;
  const std::lock_guard lock(shared_->mutex);
  if (shared_->off) return;
  if (shared_->owes) {
    if (now - asked_at_ <= deadline_) return;
    hangs_ = true;
    gpus_.clear();
    if (!std::exchange(said_hangs_, true))
      LogWarning("the GPU driver does not answer: figures of GPUs are missing until it does");
    return;
  }
  hangs_ = false;
  if (auto answer = std::exchange(shared_->answer, std::nullopt)) gpus_ = *std::move(answer);
  shared_->owes = true;
  asked_at_ = now;
  shared_->changed.notify_all();
}

bool GpuWatch::Settle(std::chrono::milliseconds most) const {
  if (!shared_) return true;
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, most, [&] { return !shared_->owes; });
}

}  // namespace ringward::telemetry
