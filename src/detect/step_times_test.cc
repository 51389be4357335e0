#include "detect/step_times.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace ringward::detect {
namespace {

using signal::kMissing;
using signal::Known;
using Value = std::optional<float>;

signal::Frame FrameWith(Value step, Value data, Value compute, Value wait) {
  signal::Frame frame;
  const auto add = [&](Known metric, Value value) {
    if (value) frame.columns.push_back({signal::IdOf(metric), {*value}});
  };
  add(Known::kStepTime, step);
  add(Known::kDataTime, data);
  add(Known::kComputeTime, compute);
  add(Known::kWaitTime, wait);
  return frame;
}

void ExpectTime(float value, Value expected, const char* name) {
  if (!expected) {
    EXPECT_TRUE(signal::IsMissing(value)) << name << " is " << value;
  } else {
    EXPECT_FLOAT_EQ(value, *expected) << name;
  }
}

TEST(StepTimesTest, WhatIsNotToldIsWorkedOut) {
  constexpr Value kNone = std::nullopt;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kHuge = std::numeric_limits<float>::max();
  struct Case {
    const char* title;
    Value step, data, compute, wait;  // told
    Value step_is, self_is;
    bool has_wait;
  };
  const Case cases[] = {
      {"all", 1.0F, 0.1F, 0.6F, 0.3F, 1.0F, 0.7F, true},
      {"the step alone: all of it is self", 1.0F, kNone, kNone, kNone, 1.0F, 1.0F, false},
      {"step and wait", 1.0F, kNone, kNone, 0.3F, 1.0F, 0.7F, true},
      {"step, data and wait", 1.0F, 0.1F, kNone, 0.3F, 1.0F, 0.7F, true},
      {"compute alone", kNone, kNone, 0.6F, kNone, 0.6F, 0.6F, false},
      {"data and compute", kNone, 0.1F, 0.6F, kNone, 0.7F, 0.7F, false},
      {"compute and wait", kNone, kNone, 0.6F, 0.3F, 0.9F, 0.6F, true},
      {"data alone", kNone, 0.1F, kNone, kNone, 0.1F, 0.1F, false},
      {"more wait than step", 1.0F, kNone, kNone, 3.0F, 1.0F, 0.0F, true},
      {"the rank is not there", kMissing, kMissing, kMissing, kMissing, kNone, kNone, true},
      {"no number", kNan, kNan, 0.6F, kNan, 0.6F, 0.6F, true},
      {"infinite", INFINITY, -INFINITY, 0.6F, INFINITY, 0.6F, 0.6F, true},
      {"negative", -1.0F, -0.1F, 0.6F, -0.3F, 0.6F, 0.6F, true},
      {"longer than any step", kHuge, kHuge, 0.6F, kHuge, 0.6F, 0.6F, true},
      {"nothing", kNone, kNone, kNone, kNone, kNone, kNone, false},
      {"only a wait", kNone, kNone, kNone, 0.3F, kNone, kNone, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.title);
    StepTimes times;
    const bool any = times.Read(FrameWith(c.step, c.data, c.compute, c.wait), 1);
    EXPECT_EQ(any, c.step_is.has_value());
    EXPECT_EQ(times.has_wait(), c.has_wait);
    ExpectTime(times.step()[0], c.step_is, "step");
    ExpectTime(times.self()[0], c.self_is, "self");
    if (any) {
      EXPECT_FLOAT_EQ(times.typical_step(), *c.step_is);
    }
  }
}

TEST(StepTimesTest, FramesOfSeveralStepsAreTimesOfOne) {
  signal::Frame frame = FrameWith(10.0F, std::nullopt, std::nullopt, 4.0F);
  frame.steps = 10;
  StepTimes times;
  ASSERT_TRUE(times.Read(frame, 1));
  EXPECT_FLOAT_EQ(times.step()[0], 1.0F);
  EXPECT_FLOAT_EQ(times.self()[0], 0.6F);
}

TEST(StepTimesTest, ColumnsMayBeShorterOrLongerThanTheWorld) {
  signal::Frame frame;
  frame.columns.push_back({signal::IdOf(Known::kStepTime), {1.0F, 2.0F, 3.0F}});
  StepTimes times;
  ASSERT_TRUE(times.Read(frame, 2));
  EXPECT_EQ(times.step().size(), 2U);
  EXPECT_FLOAT_EQ(times.typical_step(), 1.0F);
  ASSERT_TRUE(times.Read(frame, 5));
  EXPECT_TRUE(signal::IsMissing(times.step()[4]));
  EXPECT_FLOAT_EQ(times.typical_step(), 2.0F);
  EXPECT_FALSE(times.Read(frame, 0));
}

}  // namespace
}  // namespace ringward::detect
