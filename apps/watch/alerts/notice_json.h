#pragma once

#include "base/clock.h"
#include "ringward/cli/json.h"
#include "watch/alerts/alert.h"

namespace ringward::watch {

/// The document of webhooks, commands and logs (docs/alerts.md).
cli::Json WebhookJson(const Notice& notice);
/// The body of Alertmanager's POST /api/v2/alerts: its alerts, and one that always fires
/// (RingwardWatcher). `now` since the Unix epoch.
cli::Json AlertmanagerJson(const Notice& notice, Clock::Duration now);
/// A message of a chat: {"text": …}.
cli::Json SlackJson(const Notice& notice);

}  // namespace ringward::watch
