#include "learn/dense/linear_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "learn/dense/dense_test_support.h"

namespace ringward::learn {
namespace {

constexpr std::uint64_t kLinearMapSeed = 12;
constexpr std::size_t kRows = 70;

class LinearMapOn : public testing::TestWithParam<Isa> {};

INSTANTIATE_TEST_SUITE_P(EveryIsa, LinearMapOn, testing::ValuesIn(AvailableIsas()),
                         [](const auto& test) { return std::string(IsaName(test.param)); });

TEST_P(LinearMapOn, MatchesSumsInDoublePrecision) {
  // Narrow, odd, and longer than a chunk of products.
  for (const auto& [in, out] : std::vector<std::pair<std::size_t, std::size_t>>{
           {1, 1}, {3, 5}, {50, 50}, {17, 300}, {300, 17}}) {
    const auto weights = NormalValues(kLinearMapSeed, in * out);
    const auto bias = NormalValues(kLinearMapSeed + 1, out);
    const auto x = NormalValues(kLinearMapSeed + 2, kRows * in);
    std::vector<float> got(kRows * out);
    LinearMap(weights, bias, GetParam()).Apply(x, kRows, got);
    for (std::size_t k = 0; k < got.size(); ++k) {
      double want = static_cast<double>(bias[k % out]);
      for (std::size_t i = 0; i < in; ++i) {
        want += static_cast<double>(weights[k % out * in + i]) *
                static_cast<double>(x[k / out * in + i]);
      }
      ASSERT_NEAR(got[k], want, 1e-5 * static_cast<double>(in)) << in << " to " << out;
    }
  }
}

TEST_P(LinearMapOn, RowsDoNotDependOnPositionOrNumber) {
  constexpr std::size_t kIn = 45;
  constexpr std::size_t kOut = 67;
  const LinearMap map(NormalValues(kLinearMapSeed, kIn * kOut),
                      NormalValues(kLinearMapSeed + 1, kOut), GetParam());
  const auto x = NormalValues(kLinearMapSeed + 2, kRows * kIn);
  std::vector<float> all(kRows * kOut);
  map.Apply(x, kRows, all);
  for (const std::size_t rows : {1U, 7U, 16U, 33U}) {
    for (const std::size_t first : {0U, 5U, 16U, 37U}) {
      std::vector<float> some(rows * kOut);
      map.Apply(std::span(x).subspan(first * kIn, rows * kIn), rows, some);
      EXPECT_TRUE(std::equal(some.begin(), some.end(), all.data() + first * kOut))
          << rows << " rows from " << first;
    }
  }
}

}  // namespace
}  // namespace ringward::learn
