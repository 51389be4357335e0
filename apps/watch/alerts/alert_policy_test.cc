#include "watch/alerts/alert_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "watch/alerts/notice_json.h"

namespace ringward::watch {
namespace {

using std::chrono::seconds;

Alert AlertOf(std::uint64_t id, const std::string& cause, std::int32_t rank, bool over = false,
              const std::string& job = "job") {
  Alert alert{.job = job, .over = over};
  const bool stands = cause != "slow-rank" && cause != "slow-input" && cause != "busy-neighbour";
  alert.cause.severity = stands ? signal::Severity::kCritical : signal::Severity::kWarning;
  alert.cause.id = id;
  alert.cause.cause = cause;
  alert.cause.summary = "told";
  alert.cause.culprit_ranks = {rank};
  return alert;
}

/// What happens at which second, and what goes out then: "job: slow-rank 1 | …" per notice.
struct Happening {
  int at;
  Alert alert;
};

std::string Told(const Notice& notice) {
  std::string text = notice.alerts.empty() ? "" : notice.alerts.front().job + ":";
  for (const Alert& alert : notice.alerts) {
    text += " " + alert.cause.cause + " " + std::to_string(alert.cause.culprit_ranks.front());
    if (alert.over) text += alert.first ? " (over)" : " resolved";
  }
  return text;
}

/// Plays a day's happenings second by second; "12 job: slow-rank 1" for each notice.
std::vector<std::string> Play(AlertPolicy& policy, const std::vector<Happening>& happenings,
                              int until) {
  std::vector<std::string> told;
  for (int second = 0; second <= until; ++second) {
    for (const Happening& each : happenings) {
      if (each.at == second) policy.Take(each.alert, seconds(second));
    }
    for (const Notice& notice : policy.Due(seconds(second))) {
      if (!notice.reminder) told.push_back(std::to_string(second) + " " + Told(notice));
    }
  }
  return told;
}

TEST(AlertPolicyTest, WhatIsToldWhen) {
  struct Case {
    const char* title;
    std::vector<Happening> happenings;
    std::vector<std::string> told;
  };
  const Case cases[] = {
      {"an incident and its end",
       {{5, AlertOf(1, "slow-rank", 3)}, {50, AlertOf(1, "slow-rank", 3, true)}},
       {"7 job: slow-rank 3", "50 job: slow-rank 3 resolved"}},
      {"what is found soon after the first goes out with it",
       {{5, AlertOf(1, "slow-rank", 3)}, {6, AlertOf(2, "slow-input", 4)}},
       {"7 job: slow-rank 3 slow-input 4"}},
      {"two at once",
       {{5, AlertOf(1, "slow-rank", 3)}, {5, AlertOf(2, "slow-input", 4)}},
       {"7 job: slow-rank 3 slow-input 4"}},
      {"jobs are told apart",
       {{5, AlertOf(1, "slow-rank", 3)}, {5, AlertOf(1, "slow-rank", 3, false, "other")}},
       {"7 job: slow-rank 3", "7 other: slow-rank 3"}},
      {"what is over before it was told is told once",
       {{5, AlertOf(1, "killed", 3, true)}},
       {"7 job: killed 3 (over)"}},
      {"a change is told at once",
       {{5, AlertOf(1, "slow-rank", 3)}, {30, AlertOf(1, "busy-neighbour", 3)}},
       {"7 job: slow-rank 3", "30 job: busy-neighbour 3"}},
      {"slowness waits while the job stands still",
       {{5, AlertOf(1, "rank-frozen", 3)},
        {6, AlertOf(2, "slow-rank", 4)},
        {40, AlertOf(1, "rank-frozen", 3, true)}},
       {"7 job: rank-frozen 3", "40 job: rank-frozen 3 resolved slow-rank 4"}},
      {"what comes back soon is told only if it stays",
       {{5, AlertOf(1, "slow-rank", 3)},
        {20, AlertOf(1, "slow-rank", 3, true)},
        {30, AlertOf(2, "slow-rank", 3)},
        {40, AlertOf(2, "slow-rank", 3, true)},
        {50, AlertOf(3, "slow-rank", 3)}},
       {"7 job: slow-rank 3", "20 job: slow-rank 3 resolved", "140 job: slow-rank 3"}},
      {"another rank is another trouble",
       {{5, AlertOf(1, "slow-rank", 3)},
        {20, AlertOf(1, "slow-rank", 3, true)},
        {30, AlertOf(2, "slow-rank", 4)}},
       {"7 job: slow-rank 3", "20 job: slow-rank 3 resolved", "32 job: slow-rank 4"}},
      {"stalls that repeat are told once",
       {{5, AlertOf(1, "rank-stalled", 3, true)},
        {15, AlertOf(2, "rank-stalled", 3, true)},
        {25, AlertOf(3, "rank-stalled", 3, true)}},
       {"7 job: rank-stalled 3 (over)"}},
  };
  for (const Case& c : cases) {
    AlertPolicy policy({.group_wait = seconds(2), .cooldown = seconds(100)});
    EXPECT_EQ(Play(policy, c.happenings, 300), c.told) << c.title;
  }
}

TEST(AlertPolicyTest, RemindersHoldWhatWasToldAndIsOpen) {
  AlertPolicy policy({.group_wait = seconds(2), .reminder = seconds(60)});
  policy.Take(AlertOf(1, "slow-rank", 3), seconds(10));
  std::vector<std::string> reminders;
  for (int second = 0; second < 200; ++second) {
    if (second == 100) policy.Take(AlertOf(1, "slow-rank", 3, true), seconds(second));
    for (const Notice& notice : policy.Due(seconds(second))) {
      if (notice.reminder) reminders.push_back(std::to_string(second) + " " + Told(notice));
    }
  }
  EXPECT_THAT(reminders, testing::ElementsAre("0 ", "60 job: slow-rank 3", "120 ", "180 "));
}

TEST(AlertPolicyTest, AtTheEndWhatWaitsIsTold) {
  AlertPolicy policy({.group_wait = seconds(60)});
  policy.Take(AlertOf(1, "slow-rank", 3), seconds(10));
  EXPECT_TRUE(policy.Last().size() == 1U && policy.Last().empty());
}

TEST(SilenceTest, FitsWhatItNames) {
  const Alert alert = AlertOf(1, "slow-rank", 3, false, "nightly-7");
  for (const auto& [text, fits] :
       {std::pair("cause=slow-rank", true), std::pair("cause=slow", false),
        std::pair("cause=slow*", true), std::pair("job=nightly-*,rank=3", true),
        std::pair("job=nightly-*,rank=4", false), std::pair("severity=warning", true),
        std::pair("category=compute", true), std::pair("job=*", true)}) {
    const auto silence = Silence::Parse(text);
    ASSERT_TRUE(silence) << text;
    EXPECT_EQ(silence->Matches(alert), fits) << text;
  }
  for (const char* const bad :
       {"", "slow-rank", "cause", "cause=", "=x", "host=a", "cause=a,", "cause=a,b"}) {
    EXPECT_FALSE(Silence::Parse(bad)) << bad;
  }
  AlertPolicy policy({.silences = {*Silence::Parse("rank=3")}});
  policy.Take(alert, seconds(1));
  EXPECT_TRUE(policy.Last().empty());
  EXPECT_EQ(policy.silenced(), 1U);
}

TEST(NoticeJsonTest, SaysTheSameToAll) {
  Notice notice{.alerts = {AlertOf(7, "slow-rank", 3)}};
  notice.alerts[0].cause.remedy = "look at it";
  EXPECT_EQ(SlackJson(notice).dump(),
            R"({"text":"[warning] job: slow-rank: told\nwhat now: look at it"})");
  const auto webhook = WebhookJson(notice);
  EXPECT_EQ(webhook["alerts"][0]["status"], "firing");
  EXPECT_EQ(webhook["alerts"][0]["incident"]["cause"], "slow-rank");
  notice.reminder = true;
  auto alertmanager = AlertmanagerJson(notice, seconds(1000));
  ASSERT_EQ(alertmanager.size(), 2U);
  EXPECT_EQ(alertmanager[0]["labels"]["incident"], "7");
  EXPECT_EQ(alertmanager[0]["annotations"]["ranks"], "3");
  EXPECT_EQ(alertmanager[0]["endsAt"], "1970-01-01T00:21:40.000Z");
  EXPECT_EQ(alertmanager[1]["labels"]["alertname"], "RingwardWatcher");
  // An end counts at once only where the beginning was told.
  notice.alerts[0].over = true;
  notice.alerts[0].ends = seconds(900);
  EXPECT_EQ(AlertmanagerJson(notice, seconds(1000))[0]["endsAt"], "1970-01-01T00:21:40.000Z");
  notice.alerts[0].first = false;
  EXPECT_EQ(AlertmanagerJson(notice, seconds(1000))[0]["endsAt"], "1970-01-01T00:15:00.000Z");
}

}  // namespace
}  // namespace ringward::watch
