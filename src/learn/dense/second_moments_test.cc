#include "learn/dense/second_moments.h"

#include <gtest/gtest.h>

#include <string>

#include "learn/dense/dense_test_support.h"

namespace ringward::learn {
namespace {

constexpr std::uint64_t kMomentsSeed = 31;

class SecondMomentsOn : public testing::TestWithParam<Isa> {};

INSTANTIATE_TEST_SUITE_P(EveryIsa, SecondMomentsOn, testing::ValuesIn(AvailableIsas()),
                         [](const auto& test) { return std::string(IsaName(test.param)); });

TEST_P(SecondMomentsOn, AddTheLowerTriangle) {
  constexpr double kBefore = 2.0;
  // One feature, less than a strip, several strips; full panels and not.
  for (const std::size_t width : {1U, 50U, 150U}) {
    for (const std::size_t rows : {1U, 32U, 70U}) {
      const auto x = NormalValues(kMomentsSeed, rows * width);
      std::vector<double> got(width * width, kBefore);
      AddSecondMoments(x, width, got, GetParam());
      for (std::size_t k = 0; k < got.size(); ++k) {
        const std::size_t i = k / width;
        const std::size_t j = k % width;
        double want = kBefore;
        for (std::size_t r = 0; r < rows && j <= i; ++r) {
          want += static_cast<double>(x[r * width + i]) * static_cast<double>(x[r * width + j]);
        }
        ASSERT_NEAR(got[k], want, 1e-4)
            << width << " features, " << rows << " rows: " << i << "," << j;
      }
    }
  }
}

TEST_P(SecondMomentsOn, NoRowsAddNothing) {
  std::vector<double> got(4, 1.0);
  AddSecondMoments({}, 2, got, GetParam());
  EXPECT_EQ(got, std::vector<double>(4, 1.0));
}

}  // namespace
}  // namespace ringward::learn
