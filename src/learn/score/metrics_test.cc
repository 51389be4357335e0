#include "learn/score/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "base/rng.h"
#include "learn/score/bootstrap.h"

namespace ringward::learn {
namespace {

using ::testing::HasSubstr;
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Worked out by hand; add a line to add a case.
struct AreaCase {
  const char* name;
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
  double auroc;
  double auprc;
};

class AreaTest : public ::testing::TestWithParam<AreaCase> {};

TEST_P(AreaTest, EqualsTheHandComputedValue) {
  const AreaCase& c = GetParam();
  EXPECT_DOUBLE_EQ(*Auroc(c.scores, c.labels), c.auroc);
  EXPECT_DOUBLE_EQ(*Auprc(c.scores, c.labels), c.auprc);
  const auto quality = MeasureQuality(c.scores, c.labels, {});
  ASSERT_TRUE(quality);
  EXPECT_DOUBLE_EQ(quality->auroc.value, c.auroc);
  EXPECT_DOUBLE_EQ(quality->auprc.value, c.auprc);
}

INSTANTIATE_TEST_SUITE_P(
    Golden, AreaTest,
    ::testing::Values(
        AreaCase{"Perfect", {4, 3, 2, 1}, {1, 1, 0, 0}, 1.0, 1.0},
        AreaCase{"Reversed", {1, 3, 2}, {1, 0, 0}, 0.0, 1.0 / 3.0},
        // .9 beats two normals, .7 one of two; precision 1/1 and 2/3 at the anomalies
        AreaCase{"Mixed", {.9, .8, .7, .6}, {1, 0, 1, 0}, 0.75, (1.0 + 2.0 / 3.0) / 2.0},
        // ties count half: (.5 + 1 + 0 + .5) / 4
        AreaCase{"Ties", {1, 1, 0, 0}, {1, 0, 0, 1}, 0.5, 0.5},
        AreaCase{"TiesUneven", {2, 2, 2, 1}, {1, 0, 1, 0}, 0.75, 2.0 / 3.0},
        AreaCase{"AllEqual", {7, 7, 7, 7}, {0, 0, 1, 0}, 0.5, 0.25},
        AreaCase{"Infinite", {kInf, -kInf, 0}, {1, 0, 0}, 1.0, 1.0},
        AreaCase{"AnyNonZeroLabel", {2, 1}, {255, 0}, 1.0, 1.0},
        // runs of normals between anomalies: .5 beats 3 of 5, .2 beats 1 of 5
        AreaCase{"Runs", {.9, .8, .5, .4, .3, .2, .1}, {0, 0, 1, 0, 0, 1, 0}, 0.4, 1.0 / 3.0}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(MeasureQualityTest, CountsAlarmsAboveTheThresholdOnly) {
  const std::vector<double> scores{5, 4, 3, 3, 2, 1, 0, 0};
  const std::vector<std::uint8_t> labels{1, 0, 1, 0, 0, 1, 0, 0};
  const auto quality = MeasureQuality(scores, labels, {.threshold = 3.0});
  ASSERT_TRUE(quality) << quality.error().what();
  EXPECT_EQ(quality->rows, 8U);
  EXPECT_EQ(quality->anomalies, 3U);
  EXPECT_DOUBLE_EQ(quality->prevalence, 0.375);
  EXPECT_DOUBLE_EQ(quality->auroc.random, 0.5);
  EXPECT_DOUBLE_EQ(quality->auprc.random, 0.375);
  ASSERT_TRUE(quality->at_threshold);
  const AlarmQuality& alarm = *quality->at_threshold;
  EXPECT_EQ(alarm.alarms, 2U);  // the rows at exactly 3 are not alarms
  EXPECT_EQ(alarm.found, 1U);
  EXPECT_EQ(alarm.false_alarms, 1U);
  ASSERT_TRUE(alarm.precision);
  EXPECT_DOUBLE_EQ(alarm.precision->value, 0.5);
  EXPECT_DOUBLE_EQ(alarm.precision->random, 0.375);
  EXPECT_DOUBLE_EQ(alarm.recall.value, 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(alarm.recall.random, 0.25);
  EXPECT_DOUBLE_EQ(alarm.false_alarm_rate.value, 0.2);
  EXPECT_DOUBLE_EQ(alarm.false_alarm_rate.random, 0.25);
}

TEST(MeasureQualityTest, HasNoPrecisionWithoutAlarms) {
  const auto quality = MeasureQuality(std::vector<double>{1, 2}, std::vector<std::uint8_t>{0, 1},
                                      {.threshold = 9.0});
  ASSERT_TRUE(quality);
  EXPECT_FALSE(quality->at_threshold->precision);
  EXPECT_DOUBLE_EQ(quality->at_threshold->recall.value, 0.0);
}

TEST(MeasureQualityTest, HasNoAlarmFiguresWithoutThreshold) {
  const auto quality =
      MeasureQuality(std::vector<double>{1, 2}, std::vector<std::uint8_t>{0, 1}, {});
  ASSERT_TRUE(quality);
  EXPECT_FALSE(quality->at_threshold);
}

struct BadCase {
  const char* name;
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
  QualityOptions options;
  const char* message;
};

class BadInputTest : public ::testing::TestWithParam<BadCase> {};

TEST_P(BadInputTest, IsRefusedInOneLine) {
  const BadCase& c = GetParam();
  const auto quality = MeasureQuality(c.scores, c.labels, c.options);
  ASSERT_FALSE(quality);
  EXPECT_EQ(quality.error().code(), Code::kInvalidInput);
  EXPECT_THAT(quality.error().what(), HasSubstr(c.message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadInputTest,
    ::testing::Values(
        BadCase{"Lengths", {1, 2}, {0}, {}, "2 scores for 1 labels"},
        BadCase{"Empty", {}, {}, {}, "no scores"},
        BadCase{"Nan", {1, kNan}, {0, 1}, {}, "score of row 1 is not a number"},
        BadCase{"NoAnomaly", {1, 2}, {0, 0}, {}, "no row of 2 is labelled an anomaly"},
        BadCase{"NoNormal", {1, 2}, {1, 1}, {}, "no row of 2 is labelled normal"},
        BadCase{"Threshold", {1, 2}, {0, 1}, {.threshold = kNan}, "threshold"},
        BadCase{"Resamples", {1, 2}, {0, 1}, {.resamples = -1}, "resamples is -1"},
        BadCase{"Confidence", {1, 2}, {0, 1}, {.confidence = 1.0}, "confidence is 1"}),
    [](const auto& test) { return std::string(test.param.name); });

struct Sample {
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
};

/// Normal rows score N(0, 1), anomalies N(1, 1): AUROC is Phi(1 / sqrt 2) = 0.760.
Sample DrawSample(std::size_t normals, std::size_t anomalies, std::uint64_t seed) {
  Rng rng(seed);
  Sample sample;
  for (std::size_t i = 0; i < normals + anomalies; ++i) {
    const bool anomaly = i >= normals;
    sample.scores.push_back(rng.Normal() + (anomaly ? 1.0 : 0.0));
    sample.labels.push_back(anomaly ? 1 : 0);
  }
  return sample;
}

constexpr double kTrueAuroc = 0.7602499389065233;

/// Standard error of the AUROC by DeLong's structural components: no resampling in it.
double DeLongError(const Sample& sample) {
  std::vector<double> classes[2];
  for (std::size_t i = 0; i < sample.scores.size(); ++i) {
    classes[sample.labels[i]].push_back(sample.scores[i]);
  }
  for (auto& scores : classes) std::sort(scores.begin(), scores.end());
  double error = 0.0;
  for (int c = 0; c < 2; ++c) {
    const auto& other = classes[1 - c];
    double sum = 0.0;
    double squares = 0.0;
    for (const double score : classes[c]) {
      const auto below = std::lower_bound(other.begin(), other.end(), score) - other.begin();
      const double share = static_cast<double>(below) / static_cast<double>(other.size());
      sum += share;
      squares += share * share;
    }
    const double n = static_cast<double>(classes[c].size());
    error += (squares / n - (sum / n) * (sum / n)) / n;
  }
  return std::sqrt(error);
}

class IntervalTest : public ::testing::TestWithParam<std::pair<std::size_t, std::size_t>> {};

// 95 % of a normal distribution is 3.92 standard errors wide; 1,000 resamples know it to ~5 %.
TEST_P(IntervalTest, HasTheWidthOfAnIndependentStandardError) {
  const auto [normals, anomalies] = GetParam();
  const Sample sample = DrawSample(normals, anomalies, 11);
  const auto quality = MeasureQuality(sample.scores, sample.labels, {.threshold = 2.0, .seed = 5});
  ASSERT_TRUE(quality);
  const Figure& auroc = quality->auroc;
  EXPECT_NEAR(auroc.value, kTrueAuroc, 4 * DeLongError(sample));
  EXPECT_LT(auroc.low, auroc.value);
  EXPECT_GT(auroc.high, auroc.value);
  EXPECT_NEAR((auroc.high - auroc.low) / (3.92 * DeLongError(sample)), 1.0, 0.2);
  const Figure& recall = quality->at_threshold->recall;
  const double recall_error =
      std::sqrt(recall.value * (1 - recall.value) / static_cast<double>(anomalies));
  EXPECT_NEAR((recall.high - recall.low) / (3.92 * recall_error), 1.0, 0.2);
}

// Both sides of the 4,096 rows where row draws give way to Poisson counts.
INSTANTIATE_TEST_SUITE_P(SmallAndLarge, IntervalTest,
                         ::testing::Values(std::pair{2000UL, 400UL}, std::pair{20'000UL, 400UL},
                                           std::pair{20'000UL, 6000UL}));

TEST(CountedCellsTest, CoarseCellsAreFewAndKeepTheFigures) {
  const Sample sample = DrawSample(100'000, 60'000, 4);
  const auto ranking = RankScores(sample.scores, sample.labels);
  const RankingFigures fine = CountedCells(*ranking, 1.5).Figures();
  const CountedCells cells(*ranking, 1.5, 4096);
  EXPECT_LE(cells.size(), 4U * 4096U);
  const RankingFigures coarse = cells.Figures();
  EXPECT_NEAR(coarse.auroc, fine.auroc, 1e-5);
  EXPECT_NEAR(coarse.auprc, fine.auprc, 3e-4);
  EXPECT_DOUBLE_EQ(coarse.precision, fine.precision);
  EXPECT_DOUBLE_EQ(coarse.recall, fine.recall);
}

TEST(BootstrapTest, RepeatsForASeedAndDiffersForAnother) {
  const Sample sample = DrawSample(6000, 100, 3);
  const auto interval = [&](std::uint64_t seed) {
    const auto quality =
        MeasureQuality(sample.scores, sample.labels, {.resamples = 200, .seed = seed});
    return std::pair{quality->auprc.low, quality->auprc.high};
  };
  EXPECT_EQ(interval(1), interval(1));
  EXPECT_NE(interval(1), interval(2));
}

TEST(BootstrapTest, PoissonHasMeanAndVarianceOfItsParameter) {
  for (const std::uint32_t mean : {0U, 1U, 5U, 12U, 13U, 40U, 1000U, 2'000'000U}) {
    SCOPED_TRACE(mean);
    Rng rng(17, RngPurpose::kTest, mean);
    constexpr int kDraws = 40'000;
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < kDraws; ++i) {
      const double x = static_cast<double>(DrawPoisson(mean, rng)) - mean;
      sum += x;
      squares += x * x;
    }
    const double expected = mean;
    EXPECT_NEAR(sum / kDraws, 0.0, 5 * std::sqrt(expected / kDraws) + 1e-12);
    EXPECT_NEAR(squares / kDraws, expected, 0.05 * expected);
  }
}

double RocArea(const std::vector<CurvePoint>& curve) {
  double area = 0.0;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    area += (curve[i].false_alarm_rate - curve[i - 1].false_alarm_rate) *
            (curve[i].recall + curve[i - 1].recall) / 2.0;
  }
  return area;
}

double PrArea(const std::vector<CurvePoint>& curve) {
  double area = 0.0;
  for (std::size_t i = 1; i < curve.size(); ++i) {
    area += (curve[i].recall - curve[i - 1].recall) * curve[i].precision;
  }
  return area;
}

TEST(QualityCurveTest, KeepsTheAreasInFewPoints) {
  const Sample sample = DrawSample(100'000, 10'000, 7);
  const auto curve = QualityCurve(sample.scores, sample.labels);
  ASSERT_TRUE(curve);
  EXPECT_LT(curve->size(), 2000U);
  EXPECT_NEAR(RocArea(*curve), *Auroc(sample.scores, sample.labels), 0.002);
  EXPECT_NEAR(PrArea(*curve), *Auprc(sample.scores, sample.labels), 0.002);
  EXPECT_TRUE(std::is_sorted(curve->begin(), curve->end(), [](const auto& a, const auto& b) {
    return a.threshold > b.threshold;
  }));
}

TEST(QualityCurveTest, EqualsTheHandComputedPoints) {
  const auto curve =
      QualityCurve(std::vector<double>{3, 2, 2, 1}, std::vector<std::uint8_t>{1, 1, 0, 0});
  ASSERT_TRUE(curve);
  ASSERT_EQ(curve->size(), 4U);
  const std::vector<std::vector<double>> expected{
      {kInf, 0, 0, 1}, {3, 0, 0.5, 1}, {2, 0.5, 1, 2.0 / 3.0}, {1, 1, 1, 0.5}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const CurvePoint& point = (*curve)[i];
    EXPECT_EQ((std::vector{point.threshold, point.false_alarm_rate, point.recall, point.precision}),
              expected[i]);
  }
  EXPECT_FALSE(QualityCurve(std::vector<double>{1}, std::vector<std::uint8_t>{1}));
  EXPECT_FALSE(QualityCurve(std::vector<double>{1, 2}, std::vector<std::uint8_t>{1, 0}, 0.0));
}

TEST(QualityByKindTest, ComparesEachKindWithAllNormals) {
  const std::vector<double> scores{1, 2, 3, 9, 2, 1};
  const std::vector<std::uint8_t> labels{0, 0, 0, 1, 1, 1};
  const std::vector<std::string> kinds{"normal", "normal", "normal", "spike", "drift", "drift"};
  const auto by_kind = QualityByKind(scores, labels, kinds, 2.0);
  ASSERT_TRUE(by_kind);
  ASSERT_EQ(by_kind->size(), 2U);
  EXPECT_EQ((*by_kind)[0].kind, "drift");
  EXPECT_EQ((*by_kind)[0].rows, 2U);
  EXPECT_EQ((*by_kind)[0].found, 0U);
  EXPECT_DOUBLE_EQ((*by_kind)[0].auroc, (1.5 + 0.5) / 6.0);
  EXPECT_EQ((*by_kind)[1].kind, "spike");
  EXPECT_DOUBLE_EQ((*by_kind)[1].recall, 1.0);
  EXPECT_DOUBLE_EQ((*by_kind)[1].auroc, 1.0);
  EXPECT_FALSE(QualityByKind(scores, labels, std::span(kinds).first(2), 2.0));
}

}  // namespace
}  // namespace ringward::learn
