#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "watch/alerts/alert.h"

namespace ringward::watch {

/// Where notices go. One thread at a time.
class Receiver {
 public:
  virtual ~Receiver() = default;
  /// For messages: kind and address, without what may be a secret.
  virtual const std::string& name() const = 0;
  /// `now`: since the Unix epoch. Blocks for at most some 15 seconds. Errors: kUnavailable (try
  /// again), kInvalidInput (the other side does not want it: trying again is of no use).
  virtual Status Send(const Notice& notice, Clock::Duration now) = 0;
  /// Whether it wants notices that only repeat the state.
  virtual bool wants_reminders() const { return false; }
};

/// The kinds of receivers that an address may name.
enum class ReceiverKind : std::uint8_t {
  kAlertmanager,  ///< its API v2; the base address, /api/v2/alerts is added
  kWebhook,       ///< a JSON document by POST (docs/alerts.md)
  kSlack,         ///< {"text": …} by POST, as Slack, Mattermost and others take it
  kHeartbeat,     ///< GET with each reminder: who hears none knows that the watcher is gone
};

/// Errors: kInvalidInput (no http:// or https:// address).
Result<std::unique_ptr<Receiver>> MakeHttpReceiver(ReceiverKind kind, const std::string& url);

/// Runs `program` for each notice with the webhook's document on standard input; killed after ten
/// seconds. Errors: kInvalidInput (no such program).
Result<std::unique_ptr<Receiver>> MakeCommandReceiver(const std::string& program);

/// Appends the webhook's document to a file, one line each. Errors: kResource.
Result<std::unique_ptr<Receiver>> MakeLogReceiver(const std::string& path);

}  // namespace ringward::watch
