#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "base/result.h"

namespace ringward::comm {

/// A thread that runs one piece of work at a time. Start, Done and Wait belong to one thread.
/// Destruction waits for the work under way, which therefore must end by itself.
class AsyncWorker {
 public:
  AsyncWorker();
  ~AsyncWorker();
  AsyncWorker(const AsyncWorker&) = delete;
  AsyncWorker& operator=(const AsyncWorker&) = delete;

  /// REQUIRES: no work under way, i.e. Wait() has returned since the last Start().
  void Start(std::function<Status()> work);
  bool Done();    ///< never blocks for longer than a mutex
  Status Wait();  ///< the work's status; may be called once per Start()

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<Status()> work_;  // set while waiting for the thread or running
  std::optional<Status> result_;
  bool stop_ = false;
  std::thread thread_;  // last: starts when everything above exists
};

}  // namespace ringward::comm
