#include "detect/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ringward::detect {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(RulesTest, WhatAFileDoesNotNameStaysAsItWas) {
  const auto rules =
      ParseRules("worth = 0.1\n", "rules.toml", {.false_alarms_per_day = 3.0, .worth = 0.2});
  ASSERT_TRUE(rules) << rules.error().what();
  EXPECT_EQ(rules->false_alarms_per_day, 3.0);
  EXPECT_EQ(rules->worth, 0.1);
  EXPECT_EQ(rules->silence_seconds, 4.0);
}

TEST(RulesTest, ThresholdsReplaceThoseBefore) {
  const DetectOptions before{.thresholds = {{.name = "old", .above = 1.0}}};
  const auto rules = ParseRules(
      "[[threshold]]\nname = \"too-hot\"\nmetric = \"temperature_celsius\"\nabove = 90\n"
      "for-seconds = 30\nseverity = \"critical\"\ncategory = \"hardware\"\n"
      "[[threshold]]\nname = \"no-disk\"\nmetric = 'root_free_bytes'\nbelow = 1e9\n",
      "rules.toml", before);
  ASSERT_TRUE(rules) << rules.error().what();
  ASSERT_EQ(rules->thresholds.size(), 2U);
  EXPECT_EQ(rules->thresholds[0], (ThresholdRule{.name = "too-hot",
                                                 .metric = signal::Known::kTemperature,
                                                 .above = 90.0,
                                                 .for_seconds = 30.0,
                                                 .severity = signal::Severity::kCritical,
                                                 .category = signal::Category::kHardware}));
  EXPECT_EQ(rules->thresholds[1].below, 1e9);
}

TEST(RulesTest, AWrongFileIsRefusedWithItsPlace) {
  const struct {
    const char* text;
    const char* place;
    const char* what;
  } rows[] = {
      {"worth = 2\n", "r.toml:1:9: ", "worth: expected a number, 0 <= x <= 1"},
      {"\nwort = 0.1\n", "r.toml:2:1: ", "did you mean worth?"},
      {"threshold = 3\n", "r.toml:1:13: ", "[[threshold]]"},
      {"[threshold]\nname = 'a'\n", "r.toml:1:1: ", "[[threshold]]"},
      {"threshold = [3]\n", "r.toml:1:14: ", "[[threshold]]"},
      {"[[threshold]]\nname = 'a'\nmetric = 'core'\n", "r.toml:1:1: ", "one of above and below"},
      {"[[threshold]]\nname = 'a'\nmetric = 'core'\nabove = 1\nbelow = 0\n",
       "r.toml:1:1: ", "one of above and below"},
      {"[[threshold]]\nname = 'a'\nabove = 1\n", "r.toml:1:1: ", "metric is missing"},
      {"[[threshold]]\nmetric = 'core'\nabove = 1\n", "r.toml:1:1: ", "name: got ''"},
      {"[[threshold]]\nname = 'A b'\nmetric = 'core'\nabove = 1\n",
       "r.toml:1:1: ", "name: got 'A b'"},
      {"[[threshold]]\nname = 'a'\nmetric = 'cores'\nabove = 1\n", "r.toml:3:10: ", "metric: got"},
      {"[[threshold]]\nname = 'a'\nmetric = 'core'\nabove = 1\n"
       "[[threshold]]\nname = 'a'\nmetric = 'core'\nabove = 2\n",
       "r.toml:5:1: ", "given twice"},
      {"[[threshold]]\nname = 'a'\nmetric = 'core'\nabove = 'x'\n",
       "r.toml:4:9: ", "above: expected a number"},
      {"[more]\nworth = 0.1\n", "r.toml:1:2: ", "unknown key more"},
      {"worth =\n", "r.toml:1:", ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    const auto rules = ParseRules(row.text, "r.toml", {});
    ASSERT_FALSE(rules);
    EXPECT_EQ(rules.error().code(), Code::kInvalidInput);
    EXPECT_THAT(rules.error().what(), StartsWith(row.place));
    EXPECT_THAT(rules.error().what(), HasSubstr(row.what));
  }
}

TEST(RulesTest, TooManyThresholdsAreRefused) {
  std::string text;
  for (std::size_t i = 0; i <= kThresholdRulesMost; ++i) {
    text += "[[threshold]]\nname = 'a" + std::to_string(i) + "'\nmetric = 'core'\nabove = 1\n";
  }
  EXPECT_FALSE(ParseRules(text, "r.toml", {}));
}

// A recording holds the text: a replay must judge by the same bits.
TEST(RulesTest, TheirTextIsTheSameRules) {
  const DetectOptions rules{
      .false_alarms_per_day = 1.0 / 3.0,
      .worth = 0.1 + 1e-16,
      .silence_seconds = 4.7,
      .thresholds = {{.name = "too-hot",
                      .metric = signal::Known::kTemperature,
                      .above = 90.1,
                      .for_seconds = 0.3,
                      .severity = signal::Severity::kCritical},
                     {.name = "less", .metric = signal::Known::kLoss, .below = -1e-7}}};
  const auto again = ParseRules(RulesText(rules), "text", {});
  ASSERT_TRUE(again) << again.error().what();
  EXPECT_EQ(again->false_alarms_per_day, rules.false_alarms_per_day);
  EXPECT_EQ(again->worth, rules.worth);
  EXPECT_EQ(again->silence_seconds, rules.silence_seconds);
  EXPECT_EQ(again->thresholds, rules.thresholds);
}

}  // namespace
}  // namespace ringward::detect
