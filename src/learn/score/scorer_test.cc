#include "learn/score/scorer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/rng.h"
#include "learn/data/missing.h"

namespace ringward::learn {
namespace {

constexpr std::uint64_t kSeed = 4;

std::vector<float> NormalValues(std::uint64_t seed, std::size_t count) {
  Rng rng(seed);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(rng.Normal());
  return values;
}

TEST(WhiteningTest, WhitenedResidualsHaveUnitCovariance) {
  constexpr std::size_t kRows = 4'000;
  constexpr std::size_t kWidth = 3;
  auto values = NormalValues(kSeed, kRows * kWidth);
  for (std::size_t i = 0; i < kRows; ++i) values[i * kWidth + 1] += 2.0F * values[i * kWidth];
  std::vector<double> moments(kWidth * kWidth, 0.0);
  const auto add = [&](const std::vector<float>& rows, std::vector<double>& to) {
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t a = 0; a < kWidth; ++a) {
        for (std::size_t b = 0; b < kWidth; ++b) {
          to[a * kWidth + b] += static_cast<double>(rows[i * kWidth + a]) *
                                static_cast<double>(rows[i * kWidth + b]) / kRows;
        }
      }
    }
  };
  add(values, moments);
  const auto whitening = *Whitening::Fit(moments, kWidth, 0.0);
  std::vector<float> out(values.size());
  whitening.Apply(values, kRows, out);
  std::vector<double> whitened(kWidth * kWidth, 0.0);
  add(out, whitened);
  for (std::size_t a = 0; a < kWidth; ++a) {
    for (std::size_t b = 0; b < kWidth; ++b) {
      EXPECT_NEAR(whitened[a * kWidth + b], a == b ? 1.0 : 0.0, 1e-4);
    }
  }
}

TEST(WhiteningTest, WideResidualsUseVariancesOnly) {
  const std::size_t width = kFullWhiteningMax + 1;
  const auto whitening = *Whitening::Fit(std::vector<double>(width, 4.0), width, 0.0);
  EXPECT_FALSE(whitening.full());
  std::vector<float> out(width);
  whitening.Apply(std::vector<float>(width, 2.0F), 1, out);
  EXPECT_NEAR(out.front(), 1.0F, 1e-5F);
}

TEST(WhiteningTest, AddsToVariancesWhatIsAskedFor) {
  const auto whitening = *Whitening::Fit(std::vector<double>{4.0, 0.0, 0.0, 0.25}, 2, 0.0,
                                         std::vector<double>{0.0, 0.75});
  std::vector<float> out(2);
  whitening.Apply(std::vector<float>{2.0F, 2.0F}, 1, out);
  EXPECT_NEAR(out[0], 1.0F, 1e-5F);
  EXPECT_NEAR(out[1], 2.0F, 1e-5F);
}

TEST(WhiteningTest, RefusesWhatIsNoCovarianceOrNotFinite) {
  EXPECT_FALSE(Whitening::Fit(std::vector<double>{NAN}, 1, 0.01));
  EXPECT_FALSE(Whitening::Fit(std::vector<double>{1, 2, 2, 1}, 2, 0.0)) << "not a covariance";
  EXPECT_FALSE(Whitening::FromMatrix({1.0F, 2.0F}, 2));
  EXPECT_FALSE(Whitening::FromMatrix({INFINITY}, 1));
}

TEST(NeighboursTest, MatchesAnExhaustiveSearch) {
  constexpr std::size_t kWidth = 4;
  Matrix references(300, kWidth);
  references.values = NormalValues(kSeed, 300 * kWidth);
  const auto rows = NormalValues(kSeed + 1, 150 * kWidth);
  const Neighbours neighbours(references, 5);
  std::vector<double> got(150);
  neighbours.Distances(rows, 150, {}, got);
  for (std::size_t i = 0; i < 150; ++i) {
    std::vector<double> all;
    for (std::size_t r = 0; r < 300; ++r) {
      double sum = 0;
      for (std::size_t j = 0; j < kWidth; ++j) {
        sum += std::pow(
            static_cast<double>(rows[i * kWidth + j]) - static_cast<double>(references.Row(r)[j]),
            2);
      }
      all.push_back(sum);
    }
    std::sort(all.begin(), all.end());
    const double expected = std::accumulate(all.begin(), all.begin() + 5, 0.0) / (5 * kWidth);
    EXPECT_NEAR(got[i], expected, 1e-9 + 1e-6 * expected);
  }
}

TEST(NeighboursTest, AReferenceDoesNotCountItself) {
  Matrix references(2, 1);
  references.values = {0.0F, 3.0F};
  const Neighbours neighbours(references, 5);  // only one other is left
  std::vector<double> got(2);
  neighbours.Distances(references.values, 2, std::vector<std::int32_t>{0, 1}, got);
  EXPECT_DOUBLE_EQ(got[0], 9.0);
  EXPECT_DOUBLE_EQ(got[1], 9.0);
  neighbours.Distances(references.values, 2, {}, got);
  EXPECT_DOUBLE_EQ(got[0], 0.0);
}

TEST(NeighboursTest, IgnoredInputsCountAsEqual) {
  Matrix references(2, 2);
  references.values = {0.0F, 1.0F, 3.0F, 0.0F};
  const Neighbours neighbours(references, 1, {1});
  std::vector<double> got(1);
  neighbours.Distances(std::vector<float>{0.5F, 7.0F}, 1, {}, got);
  EXPECT_DOUBLE_EQ(got[0], 0.125);
}

/// An untrained ensemble with unit whitening: enough to check how scores are put together.
struct Fixture {
  static constexpr std::size_t kInputs = 5;
  std::unique_ptr<Plan> plan;
  ScoreParts parts;

  Fixture() {
    plan =
        *Plan::Make({.inputs = kInputs,
                     .layers = {{.width = 7, .activation = Activation::kTanh}, {.width = kInputs}},
                     .members = 3},
                    PlanOptions{.batch_max = 16, .training = false});
    plan->Initialize(kSeed);
    std::vector<double> identity(kInputs * kInputs, 0.0);
    for (std::size_t i = 0; i < kInputs; ++i) identity[i * kInputs + i] = 1.0;
    for (int m = 0; m < 3; ++m) parts.whitening.push_back(*Whitening::Fit(identity, kInputs, 0.0));
    Matrix references(20, kInputs);
    references.values = NormalValues(kSeed + 2, 20 * kInputs);
    parts.neighbours.emplace(references, 3);
    parts.neighbour_weight = 0.5;
    parts.neighbour_floor = 0.05;
  }
};

/// As wide as real tables, with all that a score is made of: correlated residuals, references.
struct WideFixture {
  static constexpr std::size_t kInputs = 50;
  static constexpr std::size_t kReferences = 700;
  static constexpr int kMembers = 3;
  std::unique_ptr<Plan> plan;
  ScoreParts parts;

  WideFixture() {
    const NetSpec net{
        .inputs = kInputs,
        .layers = {{.width = 33, .activation = Activation::kRelu}, {.width = kInputs}},
        .members = kMembers};
    plan = *Plan::Make(net, PlanOptions{.batch_max = 256, .training = false});
    plan->Initialize(kSeed);
    const auto factor = NormalValues(kSeed, kInputs * kInputs);
    std::vector<double> moments(kInputs * kInputs);
    for (std::size_t k = 0; k < moments.size(); ++k) {
      const float* a = factor.data() + k / kInputs * kInputs;
      moments[k] = std::inner_product(a, a + kInputs, factor.data() + k % kInputs * kInputs, 0.0);
    }
    for (int m = 0; m < kMembers; ++m) {
      parts.whitening.push_back(*Whitening::Fit(moments, kInputs, 0.01));
    }
    Matrix references(kReferences, kInputs);
    references.values = NormalValues(kSeed + 2, kReferences * kInputs);
    parts.neighbours.emplace(references, 5);
    parts.neighbour_weight = 0.5;
  }

  /// Scores of `rows`, handed over `block` at a time.
  std::vector<double> Score(const std::vector<float>& rows, std::size_t block) {
    Scorer scorer(*plan, parts, std::min<std::size_t>(block, 256));
    const std::size_t count = rows.size() / kInputs;
    std::vector<double> scores(count);
    for (std::size_t first = 0; first < count; first += block) {
      const std::size_t some = std::min(block, count - first);
      scorer.Score(std::span(rows).subspan(first * kInputs, some * kInputs), some,
                   std::span(scores).subspan(first, some));
    }
    return scores;
  }
};

TEST(ScorerTest, ScoresAreBitEqualHoweverRowsAreBatched) {
  constexpr std::size_t kRows = 300;
  WideFixture f;
  auto rows = NormalValues(kSeed + 3, kRows * WideFixture::kInputs);
  const auto whole = f.Score(rows, kRows);
  for (std::size_t i = 0; i < rows.size(); i += 171) rows[i] = kMissingInput;
  const auto together = f.Score(rows, kRows);
  for (std::size_t i = 0; i < kRows; ++i) {
    const auto row = std::span(rows).subspan(i * WideFixture::kInputs, WideFixture::kInputs);
    EXPECT_EQ(together[i] != whole[i], AnyMissing(row)) << "row " << i;
  }
  for (const std::size_t block : {1U, 7U, 64U, 256U}) {
    EXPECT_EQ(f.Score(rows, block), together) << "blocks of " << block;
  }
  for (const std::size_t by : {1U, 6U, 100U}) {
    auto moved = rows;
    std::rotate(moved.begin(), moved.begin() + static_cast<std::ptrdiff_t>(by * f.kInputs),
                moved.end());
    auto want = together;
    std::rotate(want.begin(), want.begin() + static_cast<std::ptrdiff_t>(by), want.end());
    EXPECT_EQ(f.Score(moved, kRows), want) << "moved by " << by;
  }
}

TEST(ScorerTest, ContributionsSumToTheScoreAndNameTheShiftedInput) {
  Fixture f;
  Scorer scorer(*f.plan, f.parts, 16);
  auto row = NormalValues(kSeed + 5, Fixture::kInputs);
  row[3] = 40.0F;
  std::vector<double> score(1);
  scorer.Score(row, 1, score);
  const FeatureGroups features{{0}, {1, 2}, {3}, {4}};
  const auto contributions = scorer.Explain(row, score[0], features);
  ASSERT_EQ(contributions.size(), features.size());
  double sum = 0.0;
  for (const auto& c : contributions) {
    EXPECT_GE(c.share, 0.0);
    sum += c.share;
  }
  EXPECT_NEAR(sum, score[0], 1e-9 * score[0]);
  EXPECT_EQ(contributions[0].feature, 2U);
  ASSERT_EQ(contributions[0].expected.size(), 1U);
  EXPECT_LT(std::abs(contributions[0].expected[0]), 10.0F);
}

TEST(ScorerTest, ReasonsDoNotDependOnHowManyRowsAreScoredAtOnce) {
  Fixture f;
  Scorer whole(*f.plan, f.parts, 16);
  Scorer one_by_one(*f.plan, f.parts, 1);
  auto row = NormalValues(kSeed + 5, Fixture::kInputs);
  row[3] = 40.0F;
  std::vector<double> score(1);
  whole.Score(row, 1, score);
  const FeatureGroups features{{0}, {1, 2}, {3}, {4}};
  const auto want = whole.Explain(row, score[0], features);
  const auto got = one_by_one.Explain(row, score[0], features);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(got[i].feature, want[i].feature);
    EXPECT_EQ(got[i].share, want[i].share);
    EXPECT_EQ(got[i].expected, want[i].expected);
  }
}

TEST(ScorerTest, FewerRowsOfWideTablesAreScoredAtOnce) {
  const struct {
    std::size_t inputs;
    std::size_t members;
    std::size_t rows;
  } kCases[] = {{1, 1, 256}, {20'000, 12, 256}, {200'000, 12, 27}, {1'000'000, 1'000, 1}};
  for (const auto& c : kCases) EXPECT_EQ(RowsAtOnce(c.inputs, c.members), c.rows) << c.inputs;
}

TEST(ScorerTest, MissingInputsAreExplainedAsTheRowIsScored) {
  Fixture f;
  Scorer scorer(*f.plan, f.parts, 16);
  auto row = NormalValues(kSeed + 5, Fixture::kInputs);
  row[1] = kMissingInput;
  row[3] = 40.0F;
  std::vector<double> score(1);
  scorer.Score(row, 1, score);
  const auto contributions = scorer.Explain(row, score[0], {{0}, {1}, {2}, {3}, {4}});
  double sum = 0.0;
  for (const auto& c : contributions) {
    EXPECT_TRUE(std::isfinite(c.expected[0]));
    sum += c.share;
  }
  EXPECT_NEAR(sum, score[0], 1e-9 * score[0]);
  EXPECT_EQ(contributions[0].feature, 3U);
}

TEST(ScorerTest, RowsWithoutAnyValueScoreFinite) {
  Fixture f;
  Scorer scorer(*f.plan, f.parts, 16);
  std::vector<double> score(1);
  scorer.Score(std::vector<float>(Fixture::kInputs, kMissingInput), 1, score);
  EXPECT_TRUE(std::isfinite(score[0]));
}

TEST(ScorerTest, RowsFarOutsideScoreLargeAndFinite) {
  Fixture f;
  Scorer scorer(*f.plan, f.parts, 16);
  std::vector<double> score(1);
  scorer.Score(std::vector<float>(Fixture::kInputs, 1e9F), 1, score);
  EXPECT_TRUE(std::isfinite(score[0]));
  EXPECT_GT(score[0], 1e6);
}

}  // namespace
}  // namespace ringward::learn
