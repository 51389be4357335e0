#include "learn/score/largest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/rng.h"

namespace ringward::learn {
namespace {

std::vector<std::int32_t> Indices(std::span<const Largest::Entry> entries) {
  std::vector<std::int32_t> indices;
  for (const auto& entry : entries) indices.push_back(entry.index);
  return indices;
}

TEST(LargestTest, MatchesAStableSort) {
  constexpr std::uint64_t kSeed = 8;
  constexpr std::int32_t kWithout = 3;
  Rng rng(kSeed);
  Largest largest;
  for (const std::size_t size : {7U, 16U, 17U, 40U, 500U}) {
    for (const std::uint64_t distinct : {2U, 10U, 1000U}) {  // from many ties to few
      std::vector<float> values(size);
      for (float& v : values) v = static_cast<float>(rng.Below(distinct));
      std::vector<std::int32_t> order(size);
      std::iota(order.begin(), order.end(), 0);
      std::erase(order, kWithout);
      std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        return values[static_cast<std::size_t>(a)] > values[static_cast<std::size_t>(b)];
      });
      for (const std::size_t count : {0U, 1U, 6U}) {
        const std::vector<std::int32_t> want(order.data(), order.data() + count);
        EXPECT_EQ(Indices(largest.Find(values, kWithout, count)), want)
            << count << " of " << size << ", " << distinct << " distinct";
      }
    }
  }
}

TEST(LargestTest, FindsThoseInTheLastPlaces) {
  std::vector<float> values(50);
  std::iota(values.begin(), values.end(), 0.0F);
  EXPECT_EQ(Indices(Largest().Find(values, -1, 3)), (std::vector<std::int32_t>{49, 48, 47}));
}

}  // namespace
}  // namespace ringward::learn
