#include "replay/noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ringward::replay {
namespace {

TEST(FastRandomTest, IsUniformAndKeyedByItsSeed) {
  FastRandom a(1);
  FastRandom again(1);
  FastRandom b(2);
  double sum = 0.0;
  double squares = 0.0;
  int equal = 0;
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = a.Uniform();
    ASSERT_TRUE(u >= 0.0 && u < 1.0);
    ASSERT_EQ(u, again.Uniform());
    equal += u == b.Uniform() ? 1 : 0;
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
  EXPECT_NEAR(squares / kDraws, 1.0 / 3.0, 0.005);
  EXPECT_EQ(equal, 0);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LT(a.Below(7), 7U);
    const double x = a.Between(-2.0, 3.0);
    EXPECT_TRUE(x >= -2.0 && x < 3.0);
  }
}

// Student's t with 4 degrees of freedom over the root of 2: quantiles from any table of it.
TEST(HeavyTailTest, HasTheMomentsAndTailsItClaims) {
  const HeavyTail tail;
  FastRandom random(3);
  constexpr std::size_t kDraws = 400'000;
  std::vector<double> drawn(kDraws);
  double sum = 0.0;
  double squares = 0.0;
  for (double& value : drawn) {
    value = static_cast<double>(tail.Draw(random));
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1.0, 0.05);
  std::sort(drawn.begin(), drawn.end());
  const std::pair<double, double> quantiles[] = {{0.01, -3.7469}, {0.05, -2.1318}, {0.25, -0.7407},
                                                 {0.5, 0.0},      {0.9, 1.5332},   {0.995, 4.6041}};
  for (const auto& [p, t] : quantiles) {
    const double expected = t / std::sqrt(2.0);
    const double found = drawn[static_cast<std::size_t>(p * kDraws)];
    EXPECT_NEAR(found, expected, 0.01 + 0.03 * std::fabs(expected)) << p;
  }
}

}  // namespace
}  // namespace ringward::replay
