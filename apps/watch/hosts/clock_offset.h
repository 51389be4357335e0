#pragma once

#include <chrono>

#include "base/clock.h"
#include "watch/hosts/wire.h"

namespace ringward::watch {

/// How far another machine's monotonic clock is ahead of ours. Of all exchanges the one counts that
/// is known best now: half its round trip, and what clocks may drift since. Values only.
class ClockOffset {
 public:
  /// Before any exchange: as if the message had taken no time.
  void TakeMessage(Clock::Duration sent, Clock::Duration received) {
    if (!exchanged_) offset_ = sent - received;
  }
  /// An exchange that is over; `now` on our clock. One that cannot have been is passed over.
  void Take(const ClockEcho& echo, Clock::Duration now) {
    const Clock::Duration away = echo.returned - echo.sent;
    const Clock::Duration here = echo.answered - echo.received;
    if (here < Clock::Duration(0) || away < here || echo.answered > now) return;
    const Clock::Duration unsure = (away - here) / 2 + kTick;
    if (exchanged_ && unsure > this->unsure(now)) return;
    exchanged_ = true;
    offset_ = (echo.sent - echo.received + echo.returned - echo.answered) / 2;
    unsure_ = unsure;
    at_ = now;
  }

  Clock::Duration offset() const { return offset_; }
  /// The offset is off by no more than this, either way.
  Clock::Duration unsure(Clock::Duration now) const {
    return exchanged_ ? unsure_ + (now - at_) / kDriftPerUnit : kUnknown;
  }

 private:
  static constexpr std::chrono::microseconds kTick{1};
  static constexpr std::chrono::seconds kUnknown{1};
  static constexpr int kDriftPerUnit = 5000;  // 200 ppm, twice what good machines show

  bool exchanged_ = false;
  Clock::Duration offset_{};
  Clock::Duration unsure_{};
  Clock::Duration at_{};
};

}  // namespace ringward::watch
