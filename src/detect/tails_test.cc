#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "detect/excursion_tail.h"
#include "detect/spike_tail.h"

namespace ringward::detect {
namespace {

float Exponential(Rng& random, double scale) {
  return static_cast<float>(-scale * std::log(1.0 - random.Uniform()));
}

/// A tail that has seen `excursions` of exponential height, one every five frames.
ExcursionTail Seen(std::uint64_t seed, int excursions, double scale) {
  Rng random(seed);
  ExcursionTail tail(2.2);
  for (int i = 0; i < excursions; ++i) {
    tail.Add(Exponential(random, scale));
    tail.AddFrames(5.0);
  }
  return tail;
}

// The level is taken high on purpose (the fit's own uncertainty), so fewer crossings than asked are
// right, and more are not.
TEST(ExcursionTailTest, ExcursionsCrossTheLevelAsOftenAsAskedOrLess) {
  struct Case {
    int learned;
    double scale, expected;
    double share_min, share_max;  // of `expected`
  };
  const Case cases[] = {
      {20'000, 2.2, 200.0, 0.3, 1.3}, {20'000, 2.2, 20.0, 0.1, 1.5}, {20'000, 5.0, 200.0, 0.2, 1.3},
      {20'000, 1.0, 200.0, 0.1, 1.3}, {300, 2.2, 200.0, 0.02, 1.3},
  };
  for (const Case& c : cases) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      const ExcursionTail tail = Seen(seed, c.learned, c.scale);
      constexpr int kFresh = 200'000;
      const double level = tail.Level(5.0 * kFresh, c.expected);
      Rng random(seed + 100);
      int crossed = 0;
      for (int i = 0; i < kFresh; ++i)
        crossed += static_cast<double>(Exponential(random, c.scale)) > level ? 1 : 0;
      EXPECT_GE(crossed, c.share_min * c.expected) << "seed " << seed << ", scale " << c.scale;
      EXPECT_LE(crossed, c.share_max * c.expected) << "seed " << seed << ", scale " << c.scale;
    }
  }
}

TEST(ExcursionTailTest, LevelFollowsWhatIsAskedAndWhatIsKnown) {
  const ExcursionTail none(2.2);
  const ExcursionTail few = Seen(4, 10, 2.2);
  const ExcursionTail many = Seen(4, 10'000, 2.2);
  EXPECT_GT(few.Level(1e6, 1.0), many.Level(1e6, 1.0)) << "few excursions: a higher level";
  EXPECT_GT(none.Level(1e6, 1.0), 0.0);
  for (const ExcursionTail* const tail : {&none, &few, &many}) {
    EXPECT_GT(tail->Level(1e6, 0.01), tail->Level(1e6, 1.0)) << "fewer alarms: a higher level";
    EXPECT_GT(tail->Level(1e8, 1.0), tail->Level(1e6, 1.0)) << "more frames: a higher level";
    EXPECT_TRUE(std::isfinite(tail->Level(1e12, 1e-6)));
    EXPECT_TRUE(std::isfinite(tail->Level(0.0, 1.0)));
  }
  EXPECT_GT(Seen(4, 10'000, 6.0).Level(1e6, 1.0), many.Level(1e6, 1.0)) << "higher excursions";
}

TEST(SpikeTailTest, NormalValuesCrossTheLevelAsOftenAsAskedOrLess) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Rng random(seed);
    SpikeTail tail;
    EXPECT_FALSE(tail.ready());
    for (int i = 0; i < 256; ++i) tail.Learn(static_cast<float>(0.1 * random.Normal()));
    ASSERT_TRUE(tail.ready());
    constexpr int kFresh = 100'000;
    const double level = tail.Level(kFresh, 10.0);
    int crossed = 0;
    for (int i = 0; i < kFresh; ++i) crossed += 0.1 * random.Normal() > level ? 1 : 0;
    EXPECT_LE(crossed, 15) << "seed " << seed << ", level " << level;
    EXPECT_LT(level, 2.0) << "seed " << seed << ": twenty deviations find nothing any more";
    EXPECT_GT(tail.Level(kFresh, 0.1), level);
  }
}

TEST(SpikeTailTest, ASeriesThatNeverMovesHasALevelOfZero) {
  SpikeTail tail;
  for (int i = 0; i < 50; ++i) tail.Learn(0.0F);
  EXPECT_EQ(tail.Level(1e5, 1.0), 0.0);
}

}  // namespace
}  // namespace ringward::detect
