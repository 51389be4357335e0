#include "ringward/watch_alerts.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/exit_code.h"

namespace ringward::cli {
namespace {

using Receivers = std::vector<std::unique_ptr<watch::Receiver>>;

/// One receiver for each value of an option; an error names the option.
template <typename Make>
Status AddReceivers(const char* option, const std::vector<std::string>& values, Make make,
                    Receivers& receivers) {
  for (const std::string& value : values) {
    auto receiver = make(value);
    if (!receiver) {
      return Error(receiver.error().code(),
                   std::string("--") + option + ": " + receiver.error().what());
    }
    receivers.push_back(*std::move(receiver));
  }
  return Ok();
}

Result<Receivers> MakeReceivers(const WatchAlertOptions& options) {
  using watch::ReceiverKind;
  Receivers receivers;
  const auto http = [](ReceiverKind kind) {
    return [kind](const std::string& url) { return watch::MakeHttpReceiver(kind, url); };
  };
  RINGWARD_TRY(AddReceivers("alertmanager", options.alertmanager, http(ReceiverKind::kAlertmanager),
                            receivers));
  RINGWARD_TRY(AddReceivers("webhook", options.webhook, http(ReceiverKind::kWebhook), receivers));
  RINGWARD_TRY(AddReceivers("slack", options.slack, http(ReceiverKind::kSlack), receivers));
  RINGWARD_TRY(
      AddReceivers("heartbeat", options.heartbeat, http(ReceiverKind::kHeartbeat), receivers));
  RINGWARD_TRY(
      AddReceivers("alert-command", options.command, watch::MakeCommandReceiver, receivers));
  RINGWARD_TRY(AddReceivers("alert-log", options.log, watch::MakeLogReceiver, receivers));
  return receivers;
}

}  // namespace

void AddWatchAlertOptions(OptionTable& table, WatchAlertOptions& options) {
  table.Group("Alerts");
  const auto list = [&](const char* name, std::vector<std::string>* target, const char* what,
                        const char* help) -> Option& {
    return table.Add(name, target, {.what = what}, help);
  };
  list("alertmanager", &options.alertmanager, "an address",
       "Alertmanager's base address (its API v2)");
  list("webhook", &options.webhook, "an address", "POST a JSON document there for each notice");
  list("slack", &options.slack, "an address",
       "POST a line of text, as Slack and Mattermost take it");
  list("alert-command", &options.command, "a program",
       "run it with the JSON document on standard input")
      .Complete(Completion::kFile);
  list("alert-log", &options.log, "a file", "append the JSON documents to it")
      .Complete(Completion::kFile);
  list("heartbeat", &options.heartbeat, "an address",
       "GET it every minute: who hears nothing knows that the watcher is gone");
  table.Add("alert-wait", &options.group_wait,
            {.min = std::chrono::milliseconds(0), .max = std::chrono::hours(1)},
            "what is found so soon after the first goes out with it");
  table.Add("alert-cooldown", &options.cooldown,
            {.min = std::chrono::milliseconds(0), .max = std::chrono::hours(24 * 7)},
            "what comes back so soon after it was over is not told again");
  list("silence", &options.silence, "KEY=VALUE,...",
       "tell nobody of what fits: keys job, cause, category, severity, rank; * at the end of a "
       "value");
  table.Add("test-alert", &options.test,
            "send one test alert to each receiver, say how it went, and stop");
}

Result<std::unique_ptr<watch::AlertListener>> MakeAlertListener(const WatchAlertOptions& options,
                                                                const Clock& clock) {
  watch::AlertOptions rules{.group_wait = options.group_wait, .cooldown = options.cooldown};
  for (const std::string& text : options.silence) {
    auto silence = watch::Silence::Parse(text);
    if (!silence) return Error(Code::kInvalidInput, "--silence: " + silence.error().what());
    rules.silences.push_back(*std::move(silence));
  }
  RINGWARD_ASSIGN(Receivers receivers, MakeReceivers(options));
  if (receivers.empty()) return std::unique_ptr<watch::AlertListener>();
  return std::make_unique<watch::AlertListener>(std::move(rules), std::move(receivers), clock);
}

Result<int> TestAlerts(const WatchAlertOptions& options, const Clock& clock, bool json,
                       Output& out) {
  RINGWARD_ASSIGN(const Receivers receivers, MakeReceivers(options));
  if (receivers.empty()) {
    return Error(Code::kInvalidInput,
                 "--test-alert: no receiver is given (--alertmanager, --webhook, …)");
  }
  bool all = true;
  Json results = Json::array();
  for (const auto& receiver : receivers) {
    const Clock::Duration now = clock.WallNow();
    watch::Notice notice = watch::TestNotice(now);
    notice.reminder = receiver->wants_reminders();
    const Status sent = receiver->Send(notice, now);
    all = all && sent;
    results.push_back({{"receiver", receiver->name()},
                       {"ok", static_cast<bool>(sent)},
                       {"error", sent ? Json() : Json(sent.error().what())}});
    if (!json) out.Print("{}: {}\n", receiver->name(), sent ? "ok" : sent.error().what());
  }
  if (json) out.WriteJson({{"receivers", std::move(results)}});
  return all ? kExitFine : kExitCouldNotRun;
}

}  // namespace ringward::cli
