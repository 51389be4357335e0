#include "learn/score/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "base/rng.h"

namespace ringward::learn {
namespace {

std::vector<double> Exponentials(std::uint64_t seed, std::size_t count) {
  Rng rng(seed);
  std::vector<double> values(count);
  for (double& v : values) v = -std::log1p(-rng.Uniform());
  return values;
}

TEST(CalibrationTest, PValueCountsCalibrationScores) {
  const auto calibration = *Calibration::Make({4, 2, 1, 3});
  // Just above a calibration score: (1 + scores above) / (n + 1).
  EXPECT_DOUBLE_EQ(calibration.PValue(0.5), 1.0);
  EXPECT_DOUBLE_EQ(calibration.PValue(2.0), 3.0 / 5.0);
  EXPECT_DOUBLE_EQ(calibration.PValue(4.0), 1.0 / 5.0);
  EXPECT_DOUBLE_EQ(calibration.PValue(3.5), 1.5 / 5.0);
  EXPECT_LT(calibration.PValue(5.0), 1.0 / 5.0);
  EXPECT_EQ(calibration.PValue(NAN), 0.0);
}

TEST(CalibrationTest, PValueFallsAndThresholdInvertsIt) {
  const auto calibration = *Calibration::Make(Exponentials(5, 400));
  double last = 1.0;
  for (double score = 0.0; score < 30.0; score += 0.01) {
    const double p = calibration.PValue(score);
    EXPECT_LE(p, last);
    EXPECT_GT(p, 0.0);
    last = p;
  }
  for (const double rate : {0.5, 0.1, 0.0123, 0.01, 1e-3, 1e-5}) {
    const double threshold = calibration.Threshold(rate);
    EXPECT_LE(calibration.PValue(threshold + 1e-9), rate * 1.001) << rate;
    EXPECT_GE(calibration.PValue(threshold - 1e-6), rate * 0.99) << rate;
  }
}

TEST(CalibrationTest, RealisedRateMatchesTheRateAskedFor) {
  for (const double rate : {0.1, 0.01}) {
    double alarms = 0;
    constexpr int kSplits = 60;
    for (std::uint64_t seed = 0; seed < kSplits; ++seed) {
      const auto calibration = *Calibration::Make(Exponentials(seed, 700));
      const double threshold = calibration.Threshold(rate);
      for (const double s : Exponentials(1'000 + seed, 2'000)) alarms += s > threshold;
    }
    EXPECT_NEAR(alarms / (kSplits * 2'000.0) / rate, 1.0, 0.12) << rate;
  }
}

TEST(CalibrationTest, TailExtrapolatesAnExponential) {
  const auto calibration = *Calibration::Make(Exponentials(3, 5'000));
  // The true threshold of 1e-5 is 11.5.
  EXPECT_NEAR(calibration.Threshold(1e-5), 11.5, 3.0);
}

TEST(CalibrationTest, EqualScoresAndSingleScoresWork) {
  for (const std::size_t count : {1U, 2U, 50U}) {
    const auto calibration = *Calibration::Make(std::vector<double>(count, 2.0));
    EXPECT_GE(calibration.Threshold(0.01), 2.0);
    EXPECT_EQ(calibration.PValue(1.0), 1.0);
    EXPECT_LE(calibration.PValue(3.0), 1.0 / static_cast<double>(count + 1));
  }
}

TEST(CalibrationTest, WarnsWhenTheRateIsTooSmallForTheRows) {
  const auto calibration = *Calibration::Make(Exponentials(1, 300));
  EXPECT_NE(calibration.Warning(0.001).find("extrapolated"), std::string::npos);
  EXPECT_NE(calibration.Warning(0.01).find("off by about"), std::string::npos);
  EXPECT_EQ(calibration.Warning(0.1), "");
}

TEST(CalibrationTest, RefusesWhatCannotCalibrate) {
  EXPECT_FALSE(Calibration::Make({}));
  EXPECT_FALSE(Calibration::Make({1.0, INFINITY}));
}

}  // namespace
}  // namespace ringward::learn
