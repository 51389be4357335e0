#include "detect/threshold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "detect/detector_set.h"

namespace ringward::detect {
namespace {

using signal::Known;
using testing::ElementsAreArray;

constexpr float kNone = signal::kMissing;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A report of three ranks a second.
struct Report {
  std::vector<float> values;
  std::int32_t steps = 1;
  bool expected_slow = false;
};

/// What is told, each with the second: "2 found 0 2", "5 over 0".
std::vector<std::string> Play(DetectorSet& detectors, Known metric,
                              const std::vector<Report>& reports, int from = 0) {
  std::vector<std::string> told;
  std::int64_t step = 1000 * from;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    step += reports[i].steps;
    const int second = from + static_cast<int>(i);
    const signal::Time at = std::chrono::seconds(1'000'000 + second);
    detectors.OnEvent({.received = at,
                       .what = signal::Frame{.step = step,
                                             .steps = reports[i].steps,
                                             .received = at,
                                             .expected_slow = reports[i].expected_slow,
                                             .columns = {{IdOf(metric), reports[i].values}}}});
    for (const signal::Finding& finding : detectors.Take()) {
      if (finding.kind != signal::FindingKind::kThreshold) continue;
      std::string line = std::to_string(second) + (finding.over ? " over" : " found");
      for (const std::int32_t rank : finding.ranks) line += " " + std::to_string(rank);
      told.push_back(line);
    }
  }
  return told;
}

TEST(ThresholdTest, TellsWhatLastsBeyondALimit) {
  const struct {
    const char* title;
    ThresholdRule rule;
    std::vector<Report> reports;
    std::vector<std::string> told;
  } rows[] = {
      {"at once",
       {.metric = Known::kTemperature, .above = 90.0},
       {{{80, 91, 80}}, {{80, 91, 80}}, {{80, 90, 80}}},
       {"0 found 1", "2 over 1"}},
      {"only what lasts",
       {.metric = Known::kTemperature, .above = 90.0, .for_seconds = 2.0},
       {{{91, 91, 0}}, {{91, 80, 0}}, {{91, 91, 0}}, {{91, 91, 0}}},
       {"2 found 0"}},
      {"one incident, others join",
       {.metric = Known::kTemperature, .above = 90.0},
       {{{91, 0, 0}}, {{0, 0, 91}}, {{0, 0, 0}}},
       {"0 found 0", "1 found 0 2", "2 over 0 2"}},
      {"below", {.metric = Known::kRootFree, .below = 1e9}, {{{2e9F, 2e9F, 5e8F}}}, {"0 found 2"}},
      {"between reports nothing changes",
       {.metric = Known::kTemperature, .above = 90.0, .for_seconds = 2.0},
       {{{91, kNone, 0}}, {{kNone, kNone, 0}}, {{kNone, kNone, 0}}, {{kNone, kNone, 0}}},
       {"2 found 0"}},
      {"what is no number says nothing",
       {.metric = Known::kLoss, .above = 2.0},
       {{{kNan, 1, 1}}, {{3, 1, 1}}, {{kNan, 1, 1}}, {{1, 1, 1}}},
       {"1 found 0", "3 over 0"}},
      {"infinite is above",
       {.metric = Known::kLoss, .above = 2.0},
       {{{std::numeric_limits<float>::infinity(), 1, 1}}},
       {"0 found 0"}},
      {"times are of one step",
       {.metric = Known::kStepTime, .above = 1.0},
       {{{9, 9, 9}, 10}, {{11, 11, 11}, 10}},
       {"1 found 0 1 2"}},
      {"others are means",
       {.metric = Known::kLoss, .above = 1.0},
       {{{2, 0, 0}, 10}},
       {"0 found 0"}},
      {"known slow steps take their time",
       {.metric = Known::kStepTime, .above = 1.0},
       {{{9, 9, 9}, 1, true}},
       {}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.title);
    ThresholdRule rule = row.rule;
    rule.name = "mine";
    DetectorSet detectors({.thresholds = {rule}});
    EXPECT_THAT(Play(detectors, rule.metric, row.reports), ElementsAreArray(row.told));
  }
}

TEST(ThresholdTest, AFindingSaysWhatTheRuleSays) {
  DetectorSet detectors({.thresholds = {{.name = "too-hot",
                                         .metric = Known::kTemperature,
                                         .above = 90.0,
                                         .severity = signal::Severity::kCritical,
                                         .category = signal::Category::kHardware}}});
  const signal::Time at = std::chrono::seconds(1'000'000);
  detectors.OnEvent(
      {.received = at,
       .what = signal::Frame{
           .step = 7, .received = at, .columns = {{IdOf(Known::kTemperature), {91.5F, 95}}}}});
  const auto findings = detectors.Take();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].rule, "too-hot");
  EXPECT_EQ(findings[0].severity, signal::Severity::kCritical);
  EXPECT_EQ(findings[0].category, signal::Category::kHardware);
  EXPECT_EQ(findings[0].effect, 95.0);
  EXPECT_EQ(findings[0].evidence, "temperature_celsius of 2 ranks, rank 1 is 95, above 90");
}

TEST(ThresholdTest, ChangedRulesKeepWhatTheSameOnesHaveSeen) {
  const ThresholdRule stays{
      .name = "stays", .metric = Known::kTemperature, .above = 90.0, .for_seconds = 3.0};
  const ThresholdRule goes{.name = "goes", .metric = Known::kTemperature, .above = 85.0};
  DetectorSet detectors({.thresholds = {stays, goes}});
  EXPECT_THAT(Play(detectors, Known::kTemperature, {{{91, 0, 0}}, {{91, 0, 0}}}),
              ElementsAreArray({"0 found 0"}));
  detectors.SetRules(
      {.thresholds = {{.name = "new", .metric = Known::kLoss, .above = 1.0}, stays}});
  const auto closed = detectors.Take();
  ASSERT_EQ(closed.size(), 1U);
  EXPECT_TRUE(closed[0].over && closed[0].rule == "goes");
  EXPECT_THAT(Play(detectors, Known::kTemperature, {{{91, 0, 0}}, {{91, 0, 0}}}, 2),
              ElementsAreArray({"3 found 0"}));
}

TEST(ThresholdTest, ARankThatHasEndedIsBeyondNothing) {
  DetectorSet detectors(
      {.thresholds = {{.name = "mine", .metric = Known::kTemperature, .above = 90.0}}});
  EXPECT_THAT(Play(detectors, Known::kTemperature, {{{91, 0, 0}}}),
              ElementsAreArray({"0 found 0"}));
  detectors.OnEvent({.received = std::chrono::seconds(1'000'000), .what = signal::RankEnded{0}});
  detectors.Take();
  EXPECT_THAT(Play(detectors, Known::kTemperature, {{{kNone, 0, 0}}}, 1),
              ElementsAreArray({"1 over 0"}));
}

}  // namespace
}  // namespace ringward::detect
