#include "detect/robust.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ringward::detect {
namespace {

TEST(RobustTest, KnownAnswers) {
  struct Case {
    const char* title;
    std::vector<float> values;
    float median, quarter, highest, mad;
  };
  const Case cases[] = {
      {"one", {3}, 3, 3, 3, 0},
      {"two: the lower", {5, 1}, 1, 1, 5, 0},
      {"odd", {9, 1, 5}, 5, 1, 9, 4},
      {"even", {4, 1, 3, 2}, 2, 1, 4, 1},
      {"ties", {2, 2, 2, 8}, 2, 2, 8, 0},
      {"one wild value", {1, 2, 3, 4, 1e30F}, 3, 2, 1e30F, 1},
      {"infinite", {1, 2, INFINITY}, 2, 1, INFINITY, 1},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.title);
    auto copy = c.values;
    EXPECT_EQ(MedianInPlace(copy), c.median);
    copy = c.values;
    EXPECT_EQ(QuantileInPlace(copy, 0.25), c.quarter);
    copy = c.values;
    EXPECT_EQ(QuantileInPlace(copy, 1.0), c.highest);
    copy = c.values;
    EXPECT_EQ(MadInPlace(copy, c.median), c.mad);
  }
}

TEST(RobustTest, RecentKeepsTheLastValues) {
  Recent recent(3);
  EXPECT_TRUE(std::isnan(recent.Median()));
  for (const float value : {1.0F, 2.0F, 3.0F}) recent.Add(value);
  EXPECT_TRUE(recent.full());
  EXPECT_EQ(recent.Median(), 2.0F);
  for (const float value : {10.0F, 20.0F}) recent.Add(value);
  EXPECT_EQ(recent.size(), 3U);
  EXPECT_EQ(recent.Median(), 10.0F);  // of 3, 10, 20
  recent.Clear();
  EXPECT_EQ(recent.size(), 0U);
  recent.Add(7.0F);
  EXPECT_EQ(recent.Median(), 7.0F);
}

}  // namespace
}  // namespace ringward::detect
