#include "learn/train/indicators.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace ringward::learn {
namespace {

/// `rows` rows of a value and its indicator, which is on in the first `on` of them.
WindowedRows MakeRows(std::size_t rows, std::size_t on, int window = 1) {
  Matrix matrix(rows, 2);
  for (std::size_t i = 0; i < on; ++i) matrix.Row(i)[1] = 1.0F;
  return {std::move(matrix), window, std::vector<std::size_t>(rows, 0)};
}

/// The indicator's variance with what is added, when its residuals have the variance `variance`.
double BoundedVariance(std::size_t rows, std::size_t on, double variance) {
  std::vector<std::uint32_t> all(rows);
  std::iota(all.begin(), all.end(), 0U);
  const IndicatorBounds bounds(std::vector<Indicator>{{.input = 1}}, MakeRows(rows, on), all);
  const auto added = bounds.Added(std::vector<double>{1.0, 0.0, 0.0, variance});
  EXPECT_EQ(added.size(), 2U);
  EXPECT_EQ(added[0], 0.0);
  return variance + added[1];
}

TEST(IndicatorsTest, WhatCannotBeForetoldCountsAsMuchAsAValue) {
  for (const std::size_t on : {10U, 20U, 500U, 5'000U, 9'990U}) {
    const double p = static_cast<double>(on) / 10'000;
    const double rarer = std::max(p, 1 - p);  // length of the residual where the rarer is the case
    EXPECT_NEAR(rarer * rarer / BoundedVariance(10'000, on, p * (1 - p)), 1.0, 0.1) << on;
  }
}

TEST(IndicatorsTest, WhatIsForetoldCountsWhenItDoesNotCome) {
  EXPECT_GT(1.0 / BoundedVariance(10'000, 5'000, 1e-3), 500.0);
}

TEST(IndicatorsTest, RowsKnownByHeartAndIndicatorsNeverOnHaveBoundedWeights) {
  EXPECT_LT(1.0 / BoundedVariance(1'000, 3, 0.0), 4.1);
  EXPECT_LT(1.0 / BoundedVariance(1'000, 0, 0.0), 1.1);
}

TEST(IndicatorsTest, EveryRowOfAWindowCountsItsColumn) {
  const std::vector<Indicator> indicators{{.input = 1}, {.input = 3}, {.input = 5}};
  const IndicatorBounds bounds(indicators, MakeRows(8, 2, 3),
                               std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  const auto added = bounds.Added(std::vector<double>(36, 1.0));
  ASSERT_EQ(added.size(), 6U);
  EXPECT_GT(added[1], 0.0);
  EXPECT_EQ(added, (std::vector<double>{0, added[1], 0, added[1], 0, added[1]}));
}

TEST(IndicatorsTest, HiddenIndicatorsDoNotChangeWhatNetsMake) {
  constexpr std::size_t kInputs = 4;  // two rows of a value and its indicator
  const NetSpec net{.inputs = kInputs,
                    .layers = {{.width = 3, .activation = Activation::kTanh}, {.width = kInputs}},
                    .members = 2};
  const auto plan = *Plan::Make(net, 1);
  plan->Initialize(1);
  const auto made = [&](const std::vector<float>& x) {
    std::vector<float> out(2 * kInputs);
    plan->Infer(x, 1, out);
    return out;
  };
  EXPECT_NE(made({1, 0, 2, 0}), made({1, 1, 2, 1}));
  HideIndicators(std::vector<Indicator>{{.input = 1}, {.input = 3}}, *plan);
  EXPECT_EQ(made({1, 0, 2, 0}), made({1, 1, 2, 1}));
  EXPECT_NE(made({1, 0, 2, 0}), made({1, 0, 3, 0}));
}

}  // namespace
}  // namespace ringward::learn
