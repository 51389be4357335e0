#include "learn/score/histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace ringward::learn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ScoreHistogramTest, CountsEveryRowOnceByClass) {
  const std::vector<double> scores{0, 1, 2.5, 4, 4};
  const std::vector<std::uint8_t> labels{0, 0, 1, 1, 0};
  const auto histogram = MakeScoreHistogram(scores, labels, 4);
  ASSERT_TRUE(histogram);
  EXPECT_THAT(histogram->edges, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(histogram->normal, ElementsAre(1, 1, 0, 1));
  EXPECT_THAT(histogram->anomaly, ElementsAre(0, 0, 1, 1));
  EXPECT_FALSE(histogram->log_axis);
}

TEST(ScoreHistogramTest, TurnsToALogAxisForHeavyTails) {
  const auto histogram = MakeScoreHistogram(std::vector<double>{1, 1, 1, 10, 1000}, {}, 3);
  ASSERT_TRUE(histogram);
  EXPECT_TRUE(histogram->log_axis);
  EXPECT_NEAR(histogram->edges[1], 10.0, 1e-9);
  EXPECT_EQ(std::accumulate(histogram->normal.begin(), histogram->normal.end(), 0UL), 5UL);
  EXPECT_TRUE(histogram->anomaly.empty());
}

TEST(ScoreHistogramTest, TakesOneValueForAllRows) {
  for (const double value : {0.0, -3.0, 2.0}) {
    const auto histogram = MakeScoreHistogram(std::vector<double>{value, value}, {}, 5);
    ASSERT_TRUE(histogram);
    EXPECT_THAT(histogram->normal, ElementsAre(0, 0, 2, 0, 0));
  }
}

TEST(ScoreHistogramTest, RefusesBadInput) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> two{1, 2};
  const std::vector<std::uint8_t> one{1};
  EXPECT_THAT(MakeScoreHistogram({}, {}).error().what(), HasSubstr("no scores"));
  EXPECT_THAT(MakeScoreHistogram(two, one).error().what(), HasSubstr("2 scores for 1 labels"));
  EXPECT_THAT(MakeScoreHistogram(two, {}, 0).error().what(), HasSubstr("bins is 0"));
  EXPECT_THAT(MakeScoreHistogram(std::vector<double>{1, inf}, {}).error().what(),
              HasSubstr("row 1 is inf"));
}

}  // namespace
}  // namespace ringward::learn
