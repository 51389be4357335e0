#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "signal/cause.h"

namespace ringward::watch {

/// What people are told of: one incident of one job. Times are since the Unix epoch.
struct Alert {
  std::string job;
  signal::Cause cause;
  Clock::Duration starts{};
  Clock::Duration ends{};  ///< where it is over
  bool over = false;
  bool first = true;  ///< it was not told before
};

/// What is told at once, of one job; one message of a chat, one request of a webhook.
struct Notice {
  std::vector<Alert> alerts;
  /// Nothing new: the state, for receivers that forget what they do not hear again.
  bool reminder = false;
};

/// One line: "[critical] job-7: rank-frozen: rank 2 has not moved …". "resolved" in place of the
/// severity where what was told is over.
std::string LineOf(const Alert& alert);

}  // namespace ringward::watch
