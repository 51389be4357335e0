#include "learn/train/sharding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ringward::learn {
namespace {

TEST(PartOfTest, PartsCoverTheWholeInOrder) {
  for (const std::size_t total : {0U, 1U, 7U, 8U, 100U}) {
    for (const std::size_t parts : {1U, 2U, 3U, 8U}) {
      std::size_t next = 0;
      for (std::size_t p = 0; p < parts; ++p) {
        const Range range = PartOf(total, p, parts);
        EXPECT_EQ(range.first, next) << total << " in " << parts;
        EXPECT_LE(range.size(), (total + parts - 1) / parts);
        EXPECT_GE(range.size(), total / parts);
        next = range.last;
      }
      EXPECT_EQ(next, total);
    }
  }
}

TEST(ShuffleEpochTest, IsAPermutationThatDependsOnSeedAndEpoch) {
  const auto order = [](std::uint64_t seed, std::uint32_t epoch) {
    std::vector<std::uint32_t> result(1000);
    ShuffleEpoch(seed, epoch, result);
    return result;
  };
  auto first = order(1, 0);
  EXPECT_EQ(first, order(1, 0));
  EXPECT_NE(first, order(1, 1));
  EXPECT_NE(first, order(2, 0));
  std::sort(first.begin(), first.end());
  for (std::uint32_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i], i);
}

TEST(GlobalBatchTest, BatchesOfAnEpochAreEvenAndCoverIt) {
  EXPECT_EQ(StepsPerEpoch(10, 4), 3U);
  EXPECT_EQ(GlobalBatch(10, 4, 0).size(), 4U);
  EXPECT_EQ(GlobalBatch(10, 4, 2).size(), 3U);
  EXPECT_EQ(GlobalBatch(10, 4, 2).last, 10U);
  EXPECT_EQ(StepsPerEpoch(8, 4), 2U);
  EXPECT_EQ(StepsPerEpoch(3, 100), 1U);
}

}  // namespace
}  // namespace ringward::learn
