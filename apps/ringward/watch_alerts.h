#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/options.h"
#include "base/result.h"
#include "ringward/cli/output.h"
#include "watch/alerts/alert_listener.h"

namespace ringward::cli {

/// Whom `ringward watch` tells, and when (docs/alerts.md).
struct WatchAlertOptions {
  std::vector<std::string> alertmanager;
  std::vector<std::string> webhook;
  std::vector<std::string> slack;
  std::vector<std::string> command;
  std::vector<std::string> log;
  std::vector<std::string> heartbeat;
  std::chrono::milliseconds group_wait{2'000};
  std::chrono::milliseconds cooldown{600'000};
  std::vector<std::string> silence;
  bool test = false;
};

void AddWatchAlertOptions(OptionTable& table, WatchAlertOptions& options);

/// The listener that tells them; null where nobody is named. `clock` outlives it. Errors:
/// kInvalidInput naming the option, kResource.
Result<std::unique_ptr<watch::AlertListener>> MakeAlertListener(const WatchAlertOptions& options,
                                                                const Clock& clock);

/// Sends one test alert to each receiver and says how it went. kExitFine, or kExitCouldNotRun where
/// one did not take it.
Result<int> TestAlerts(const WatchAlertOptions& options, const Clock& clock, bool json,
                       Output& out);

}  // namespace ringward::cli
