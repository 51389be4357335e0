#include "watch/alerts/notice_json.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "watch/news_json.h"

namespace ringward::watch {
namespace {

using cli::Json;

// Alertmanager takes an alert for over when it is not repeated for so long.
constexpr std::chrono::minutes kForgotten{5};

Json AlertJson(const Alert& alert) {
  Json document{{"job", alert.job},
                {"status", alert.over ? "resolved" : "firing"},
                {"severity", NameOf(alert.cause.severity)},
                {"ends_at", alert.over ? Json(TimeText(alert.ends)) : Json()}};
  document["incident"] = LiveIncidentJson(alert.cause);
  return document;
}

std::string RanksOf(const signal::Cause& cause) {
  return fmt::format("{}", fmt::join(cause.culprit_ranks, ","));
}

Json ForAlertmanager(const Alert& alert, Clock::Duration now) {
  // An end that nobody heard the beginning of would be passed over.
  const bool ended = alert.over && !alert.first;
  Json labels{{"alertname", "RingwardIncident"},
              {"job", alert.job},
              {"cause", alert.cause.cause},
              {"category", NameOf(alert.cause.category)},
              {"severity", NameOf(alert.cause.severity)},
              {"incident", std::to_string(alert.cause.id)}};
  Json annotations{{"summary", alert.cause.summary}, {"remedy", alert.cause.remedy}};
  if (!alert.cause.culprit_ranks.empty()) annotations["ranks"] = RanksOf(alert.cause);
  if (!alert.cause.culprit_hosts.empty())
    annotations["hosts"] = fmt::format("{}", fmt::join(alert.cause.culprit_hosts, ","));
  if (!alert.cause.evidence.empty()) annotations["evidence"] = alert.cause.evidence.front().text;
  return {{"labels", std::move(labels)},
          {"annotations", std::move(annotations)},
          {"startsAt", TimeText(alert.starts)},
          {"endsAt", TimeText(ended ? alert.ends : now + kForgotten)}};
}

}  // namespace

Json WebhookJson(const Notice& notice) {
  Json alerts = Json::array();
  for (const Alert& alert : notice.alerts) alerts.push_back(AlertJson(alert));
  return {{"version", 1}, {"alerts", std::move(alerts)}};
}

Json AlertmanagerJson(const Notice& notice, Clock::Duration now) {
  Json body = Json::array();
  for (const Alert& alert : notice.alerts) body.push_back(ForAlertmanager(alert, now));
  if (notice.reminder) {
    body.push_back(
        {{"labels", {{"alertname", "RingwardWatcher"}, {"severity", "none"}}},
         {"annotations", {{"summary", "the watcher looks on; silence means it is gone"}}},
         {"endsAt", TimeText(now + kForgotten)}});
  }
  return body;
}

Json SlackJson(const Notice& notice) {
  std::string text;
  for (const Alert& alert : notice.alerts) {
    if (!text.empty()) text += '\n';
    text += LineOf(alert);
    if (!alert.over && !alert.cause.remedy.empty()) text += "\nwhat now: " + alert.cause.remedy;
  }
  return {{"text", std::move(text)}};
}

}  // namespace ringward::watch
