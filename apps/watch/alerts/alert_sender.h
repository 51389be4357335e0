#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "watch/alerts/receiver.h"

namespace ringward::watch {

/// Sends notices on threads of its own, one a receiver, so that a receiver that does not answer
/// holds up neither the watcher nor the others. What cannot be delivered is tried again for ten
/// minutes, then dropped, counted, and said once in the log.
class AlertSender {
 public:
  struct Counts {
    std::uint64_t sent = 0;
    std::uint64_t failed = 0;   ///< attempts
    std::uint64_t dropped = 0;  ///< notices given up, or that found too many waiting
  };

  /// `clock` outlives it.
  AlertSender(std::vector<std::unique_ptr<Receiver>> receivers, const Clock& clock);
  ~AlertSender();
  AlertSender(const AlertSender&) = delete;
  AlertSender& operator=(const AlertSender&) = delete;

  /// Never waits. A reminder goes only to those that want it, and takes the place of one that
  /// still waits.
  void Post(const Notice& notice);
  /// Delivers what waits, without trying anything again, and ends the threads. At most `patience`,
  /// and what one attempt takes. Idempotent.
  void Stop(std::chrono::milliseconds patience);
  Counts counts() const;

 private:
  class Lane;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace ringward::watch
