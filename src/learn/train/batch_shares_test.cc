#include "learn/train/batch_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/rng.h"

namespace ringward::learn {
namespace {

std::vector<std::size_t> Sizes(const std::vector<Range>& cut) {
  std::vector<std::size_t> sizes;
  for (const Range& piece : cut) sizes.push_back(piece.size());
  return sizes;
}

/// Shares of ranks that show `speeds` for long.
BatchShares After(const std::vector<double>& speeds) {
  BatchShares shares(speeds.size());
  for (int i = 0; i < 50; ++i) shares.Learn(speeds);
  return shares;
}

struct CutCase {
  const char* what;
  std::vector<double> speeds;
  std::size_t batch;
  std::vector<std::size_t> sizes;
};

TEST(BatchSharesTest, RanksGetRowsByTheirSpeed) {
  const CutCase cases[] = {
      {"one rank", {3}, 100, {100}},
      {"equal ranks", {2, 2}, 512, {256, 256}},
      {"a tenth slower", {9, 10}, 512, {240, 272}},
      {"a little slower than a panel tells", {99, 100}, 512, {256, 256}},
      {"the last panel is not full", {1, 1}, 500, {256, 244}},
      {"a third slower", {2, 3}, 320, {128, 192}},
      {"half of even is the least", {1, 100}, 512, {128, 384}},
      {"one slow of four", {1, 2, 2, 2}, 896, {128, 256, 256, 256}},
      {"one fast of four is held back", {1, 1, 1, 10}, 512, {112, 112, 96, 192}},
      {"small batches are even", {1, 100}, 63, {32, 31}},
      {"fewer rows than ranks", {1, 9, 9}, 2, {1, 1, 0}},
      {"no rows", {1, 9}, 0, {0, 0}},
      {"a speed that is not known", {0, 9}, 512, {256, 256}},
      {"a speed that is no number", {std::stod("nan"), 9}, 512, {256, 256}},
  };
  for (const CutCase& c : cases) EXPECT_EQ(Sizes(After(c.speeds).Cut(c.batch)), c.sizes) << c.what;
}

TEST(BatchSharesTest, AShareReturnsWhenTheRankRecovers) {
  BatchShares shares = After({1, 2});
  EXPECT_NEAR(shares.shares()[0], 1.0 / 3, 1e-6);
  const std::vector<double> equal{2, 2};
  shares.Learn(equal);
  EXPECT_NEAR(shares.shares()[0], (1.0 / 3 + 0.5) / 2, 1e-6) << "one measurement goes half the way";
  for (int i = 0; i < 20; ++i) shares.Learn(equal);
  EXPECT_NEAR(shares.shares()[0], 0.5, 1e-6);
}

TEST(BatchSharesTest, CutsOfAnySharesCoverTheBatchWithinTheLimits) {
  constexpr std::uint64_t kSharesSeed = 5;
  Rng rng(kSharesSeed);
  for (int round = 0; round < 2000; ++round) {
    const std::size_t world = 1 + rng.Below(9);
    const std::size_t batch_max = rng.Below(2000);
    BatchShares shares(world);
    std::vector<double> speeds(world);
    for (std::size_t i = rng.Below(4); i > 0; --i) {
      for (double& speed : speeds) speed = 0.01 + rng.Uniform() * (rng.Below(4) == 0 ? 10.0 : 1.0);
      shares.Learn(speeds);
    }
    const auto all = shares.shares();
    EXPECT_NEAR(std::accumulate(all.begin(), all.end(), 0.0), 1.0, 1e-12);
    const std::size_t batch = rng.Below(batch_max + 1);
    std::size_t next = 0;
    for (const Range& piece : shares.Cut(batch)) {
      const std::string what = "round " + std::to_string(round) + " seed 5";
      EXPECT_EQ(piece.first, next) << what;
      EXPECT_LE(piece.size(), BatchShares::PieceRowsMax(batch_max, world)) << what;
      EXPECT_GE(piece.size(), std::min<std::size_t>(1, batch / world)) << what;
      next = piece.last;
    }
    EXPECT_EQ(next, batch);
  }
}

}  // namespace
}  // namespace ringward::learn
