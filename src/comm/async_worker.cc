#include "comm/async_worker.h"

#include <utility>

#include "base/check.h"

namespace ringward::comm {

AsyncWorker::AsyncWorker() : thread_([this] { Loop(); }) {}

AsyncWorker::~AsyncWorker() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void AsyncWorker::Start(std::function<Status()> work) {
  {
    const std::lock_guard lock(mutex_);
    RINGWARD_CHECK(!work_ && !result_);
    work_ = std::move(work);
  }
  changed_.notify_all();
}

bool AsyncWorker::Done() {
  const std::lock_guard lock(mutex_);
  return result_.has_value();
}

Status AsyncWorker::Wait() {
  std::unique_lock lock(mutex_);
  RINGWARD_CHECK(work_ || result_);
  changed_.wait(lock, [this] { return result_.has_value(); });
  Status status = *std::move(result_);
  result_.reset();
  return status;
}

void AsyncWorker::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || work_; });
    if (!work_) return;
    lock.unlock();
    Status status = work_();
    lock.lock();
    work_ = nullptr;
    result_ = std::move(status);
    changed_.notify_all();
  }
}

}  // namespace ringward::comm
