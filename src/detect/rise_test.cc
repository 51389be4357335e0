#include "detect/rise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ringward::detect {
namespace {

/// The rise of twelve blocks of ten seconds from `begin` of a series of time.
template <typename Series>
Rise RiseAt(double begin, Series series, RiseAge& age) {
  std::vector<double> t;
  std::vector<float> y;
  for (std::size_t block = 0; block < kRiseBlocks; ++block) {
    t.push_back(begin + 10.0 * static_cast<double>(block));
    y.push_back(static_cast<float>(series(t.back())));
  }
  const Rise rise = RiseOf(t, y);
  age.Update(rise, t.front(), t.back());
  return rise;
}

TEST(RiseTest, ALineIsStraightAndAWaveIsNot) {
  RiseAge age;
  const Rise line = RiseAt(
      0.0, [](double t) { return 3.0 * t; }, age);
  EXPECT_TRUE(line.straight);
  EXPECT_NEAR(line.slope, 3.0, 1e-6);
  EXPECT_NEAR(line.growth, 330.0, 1e-6);
  EXPECT_FALSE(RiseAt(
                   0.0, [](double t) { return std::sin(t); }, age)
                   .straight);
  EXPECT_FALSE(RiseAt(
                   0.0, [](double) { return 7.0; }, age)
                   .straight);
}

TEST(RiseTest, ALineIsBelievedThirtyTimesAsLongAsItWasSeen) {
  RiseAge age;
  const auto line = [](double t) { return t; };
  RiseAt(1000.0, line, age);  // seen for 110 s
  EXPECT_TRUE(age.Reaches(3'300.0));
  EXPECT_FALSE(age.Reaches(3'301.0));
  RiseAt(1100.0, line, age);  // for 210 s
  EXPECT_TRUE(age.Reaches(6'300.0));
  RiseAt(
      1200.0, [](double) { return 1.0; }, age);  // it is over
  EXPECT_FALSE(age.Reaches(1.0));
  RiseAt(2000.0, line, age);  // and begins again
  EXPECT_FALSE(age.Reaches(6'300.0));
}

}  // namespace
}  // namespace ringward::detect
