#include "replay/backtest.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "replay/score_sheet.h"

namespace ringward::replay {
namespace {

using Ranks = std::vector<std::int32_t>;
using Hosts = std::vector<std::string>;

signal::Cause Told(std::string cause, std::int64_t step, Ranks ranks = {}, Hosts hosts = {}) {
  signal::Cause told;
  told.cause = std::move(cause);
  told.found_step = step;
  told.culprit_ranks = std::move(ranks);
  told.culprit_hosts = std::move(hosts);
  told.confidence = 0.9;
  return told;
}

signal::Cause Unsure(signal::Cause cause) {
  cause.confidence = 0.45;
  return cause;
}

Fault Planted(FaultKind kind, Ranks ranks = {}, Hosts hosts = {}) {
  return {.kind = kind,
          .onset = 100,
          .length = 50,
          .ranks = std::move(ranks),
          .hosts = std::move(hosts)};
}

/// "found culprit kind 7", or "missed", for every fault, then the number of false incidents.
std::string Summary(const RunScore& score) {
  std::string text;
  for (const FaultOutcome& outcome : score.faults) {
    text += outcome.found ? "found " : "missed ";
    if (outcome.right_culprit) text += "culprit ";
    if (outcome.right_kind) text += "kind ";
    if (outcome.found) text += std::to_string(outcome.delay_steps) + " ";
  }
  return text + "false " + std::to_string(score.false_incidents);
}

struct ScoreCase {
  const char* title;
  std::vector<signal::Cause> causes;
  std::vector<Fault> faults;
  std::string summary;
};

void ExpectScores(const std::vector<ScoreCase>& cases) {
  for (const ScoreCase& c : cases)
    EXPECT_EQ(Summary(ScoreRun(c.causes, c.faults)), c.summary) << c.title;
}

TEST(ScoreRunTest, WhoAndWhat) {
  using enum FaultKind;
  ExpectScores({
      {"nothing planted, nothing told", {}, {}, "false 0"},
      {"missed", {}, {Planted(kSlowRank, {3})}, "missed false 0"},
      {"all right",
       {Told("slow-rank", 107, {3})},
       {Planted(kSlowRank, {3})},
       "found culprit kind 7 false 0"},
      {"another rank",
       {Told("slow-rank", 107, {4})},
       {Planted(kSlowRank, {3})},
       "found kind 7 false 0"},
      {"a rank too many",
       {Told("slow-rank", 107, {3, 4})},
       {Planted(kSlowRank, {3})},
       "found kind 7 false 0"},
      {"another kind",
       {Told("slow-input", 107, {3})},
       {Planted(kSlowRank, {3})},
       "found culprit 7 false 0"},
      {"the host",
       {Told("slow-rank", 107, {0, 1}, {"node0"})},
       {Planted(kSlowRank, {0, 1}, {"node0"})},
       "found culprit kind 7 false 0"},
      {"another host",
       {Told("slow-rank", 107, {0, 1}, {"node1"})},
       {Planted(kSlowRank, {0, 1}, {"node0"})},
       "found kind 7 false 0"},
      {"nobody is to blame",
       {Told("slow-network", 107)},
       {Planted(kSlowNetwork)},
       "found culprit kind 7 false 0"},
      {"somebody was blamed",
       {Told("slow-network", 107, {3})},
       {Planted(kSlowNetwork)},
       "found kind 7 false 0"},
  });
}

TEST(ScoreRunTest, WhenAndHowMany) {
  using enum FaultKind;
  ExpectScores({
      {"told before it was there",
       {Told("slow-rank", 90, {3})},
       {Planted(kSlowRank, {3})},
       "missed false 1"},
      {"told just after its end",
       {Told("slow-rank", 160, {3})},
       {Planted(kSlowRank, {3})},
       "found culprit kind 60 false 0"},
      {"told too late", {Told("slow-rank", 161, {3})}, {Planted(kSlowRank, {3})}, "missed false 1"},
      {"undecided does not count",
       {Unsure(Told("slow-rank", 107, {3}))},
       {Planted(kSlowRank, {3})},
       "missed false 0"},
      {"one more than planted",
       {Told("slow-rank", 107, {3}), Told("slow-rank", 120, {9})},
       {Planted(kSlowRank, {3})},
       "found culprit kind 7 false 1"},
      {"killed before its step was",
       {Told("killed", 99, {3})},
       {Planted(kKill, {3})},
       "found culprit kind -1 false 0"},
      {"two names for a freeze",
       {Told("rank-stalled", 100, {3})},
       {Planted(kFreeze, {3})},
       "found culprit kind 0 false 0"},
      {"two faults",
       {Told("non-finite", 100, {1}), Told("clock-skew", 103, {0, 1}, {"node0"})},
       {Planted(kNan, {1}), Planted(kClockSkew, {0, 1}, {"node0"})},
       "found culprit kind 0 found culprit kind 3 false 0"},
      {"two faults at once, told in the other order",
       {Told("slow-network", 103), Told("slow-rank", 107, {3})},
       {Planted(kSlowRank, {3}), Planted(kSlowNetwork)},
       "found culprit kind 7 found culprit kind 3 false 0"},
      {"two of a kind at once",
       {Told("slow-rank", 103, {9}), Told("slow-rank", 107, {3})},
       {Planted(kSlowRank, {3}), Planted(kSlowRank, {9})},
       "found culprit kind 7 found culprit kind 3 false 0"},
      {"two at once, one of them told wrongly",
       {Told("slow-input", 103, {3}), Told("slow-rank", 107, {9})},
       {Planted(kSlowRank, {3}), Planted(kSlowRank, {9})},
       "found culprit 3 found culprit kind 7 false 0"},
      {"a spike that stays",
       {Told("loss-diverging", 107)},
       {Planted(kSpike)},
       "found culprit kind 7 false 0"},
      {"a healthy day with an alarm", {Told("slow-rank", 5000, {3})}, {}, "false 1"},
  });
}

/// One fault of each kind, well to be seen, in a job of 32 ranks.
std::vector<Fault> OneOfEach() {
  using enum FaultKind;
  const Ranks host = {8, 9, 10, 11, 12, 13, 14, 15};
  std::vector<Fault> faults = {
      {.kind = kSlowRank, .ranks = {11}},
      {.kind = kSlowRank, .ranks = host, .hosts = {"node1"}},
      {.kind = kIntermittent, .ranks = {11}},
      {.kind = kSlowLink, .ranks = host, .hosts = {"node1"}},
      {.kind = kSlowNetwork},
      {.kind = kSlowInput, .ranks = {11}},
      {.kind = kUnevenData},
      {.kind = kUnevenPartition, .stage = 2},
      {.kind = kFreeze, .length = 30, .ranks = {11}},
      {.kind = kKill, .ranks = {11}},
      {.kind = kNan, .ranks = {11}},
      {.kind = kSpike, .length = 3},
      {.kind = kLeak, .ranks = {11}},
      {.kind = kClockSkew, .ranks = host, .hosts = {"node1"}},
      {.kind = kLostReports, .ranks = host, .hosts = {"node1"}},
  };
  for (Fault& fault : faults) {
    fault.onset = 250;
    if (fault.length == 0) fault.length = 150;
    fault.severity = 1.0;
  }
  return faults;
}

TEST(BacktestTest, EachFaultIsFoundWithItsCulprit) {
  for (const Fault& fault : OneOfEach()) {
    SCOPED_TRACE(NameOf(fault.kind));
    JobOptions job{.world = 32, .steps = 420, .seed = 3};
    if (fault.kind == FaultKind::kUnevenPartition) job.stages = 4;
    job.faults = {fault};
    const auto test = RunBacktest(job, {});
    ASSERT_TRUE(test);
    const RunScore score = ScoreRun(test->causes, job.faults);
    std::string told;
    for (const signal::Cause& cause : test->causes) told += cause.summary + "\n";
    EXPECT_TRUE(score.faults[0].found) << told;
    EXPECT_TRUE(score.faults[0].right_culprit) << told;
    EXPECT_TRUE(score.faults[0].right_kind) << told;
    EXPECT_EQ(score.false_incidents, 0) << told;
    EXPECT_GT(test->samples, 0U);
  }
}

TEST(BacktestTest, AHealthyJobFindsNothing) {
  JobOptions job{.world = 32, .steps = 600, .seed = 4};
  const auto test = RunBacktest(job, {});
  ASSERT_TRUE(test);
  EXPECT_EQ(ScoreRun(test->causes, {}).false_incidents, 0);
  EXPECT_GT(test->seconds_of_job, 500.0);
  job.world = 1;
  EXPECT_FALSE(RunBacktest(job, {})) << "bad options are refused";
}

TEST(ScoreSheetTest, AddsUpRuns) {
  ScoreSheet sheet;
  EXPECT_EQ(sheet.precision(), 1.0);
  EXPECT_EQ(sheet.all().recall(), 1.0);
  const std::vector<Fault> planted = {Planted(FaultKind::kNan, {3}),
                                      Planted(FaultKind::kSlowRank, {3})};
  sheet.Add(ScoreRun({Told("non-finite", 107, {3}), Told("slow-rank", 10, {1})}, planted),
            43'200.0);
  sheet.Add(ScoreRun({Told("non-finite", 103, {4})}, {planted[0]}), 43'200.0);
  EXPECT_EQ(sheet.runs(), 2);
  EXPECT_EQ(sheet.days(), 1.0);
  EXPECT_EQ(sheet.false_incidents(), 1);
  EXPECT_DOUBLE_EQ(sheet.precision(), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(sheet.all().recall(), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(sheet.f1(), 2.0 / 3.0);
  const Tally& nan = sheet.by_kind().at(FaultKind::kNan);
  EXPECT_EQ(nan.found, 2);
  EXPECT_EQ(nan.MedianDelay(), 7);
  EXPECT_EQ(nan.culprit_share(), 0.5);
  EXPECT_EQ(sheet.by_kind().at(FaultKind::kSlowRank).recall(), 0.0);
}

}  // namespace
}  // namespace ringward::replay
