#include "learn/train/sequence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "learn/train/recipe.h"

namespace ringward::learn {
namespace {

constexpr std::uint64_t kSequenceSeed = 1941;
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// A table whose cells are `value(row, column, fresh normal number)`.
WindowedRows Table(std::size_t rows, std::size_t cols,
                   const std::function<double(std::size_t, std::size_t, double)>& value,
                   int window = 1) {
  Matrix matrix(rows, cols);
  Rng rng(kSequenceSeed, RngPurpose::kTest);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) {
      matrix.Row(r)[c] = static_cast<float>(value(r, c, rng.Normal()));
    }
  }
  return {std::move(matrix), window, std::vector<std::size_t>(rows, 0)};
}

std::vector<std::uint32_t> All(std::size_t rows) {
  std::vector<std::uint32_t> all(rows);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

double Wave(std::size_t row) { return std::sin(static_cast<double>(row) / 40); }

struct SequenceCase {
  const char* what;
  std::function<double(std::size_t, std::size_t, double)> value;
  double low;
  double high;
  std::size_t run;
};

TEST(SequenceTest, TellsReadingsInOrderFromRowsInNone) {
  const std::vector<SequenceCase> table = {
      {"independent rows", [](auto, auto, double fresh) { return fresh; }, 0.95, 1.05, 1},
      {"a slow wave and noise", [](auto r, auto, double fresh) { return Wave(r) + 0.1 * fresh; },
       0.01, 0.05, 64},
      {"one slow column of twelve",
       [](auto r, auto c, double fresh) { return c == 0 ? Wave(r) : fresh; }, 0.9, 1.1, 1},
      {"nine slow columns of twelve",
       [](auto r, auto c, double fresh) { return c < 9 ? Wave(r) : fresh; }, 0.0, 0.1, 64},
      {"two slow columns and the levels of a random one",
       [](auto r, auto c, double fresh) {
         return c < 2 ? Wave(r)
                      : static_cast<double>(std::fabs(fresh) * 10 > static_cast<double>(c));
       },
       0.0, 0.1, 64},
      {"flags alone, in long runs",
       [](auto r, auto, double) { return r / 100 % 2 == 0 ? 1.0 : 0.0; }, 0.0, 0.1, 64},
      {"slow, with missing numbers",
       [](auto r, auto, double) { return r % 3 == 0 ? kMissing : Wave(r); }, 0.0, 0.05, 64},
      {"never two numbers in a row",
       [](auto r, auto, double fresh) { return r % 2 == 0 ? kMissing : fresh; }, 1.0, 1.0, 1},
      {"nothing varies", [](auto, auto, double) { return 2.0; }, 1.0, 1.0, 1},
      {"nothing is there", [](auto, auto, double) { return kMissing; }, 1.0, 1.0, 1},
      {"up and down", [](auto r, auto, double) { return r % 2 == 0 ? 1.0 : -1.0; }, 1.9, 2.1, 1},
  };
  for (const SequenceCase& c : table) {
    const WindowedRows data = Table(4'000, 12, c.value);
    const double ratio = SuccessiveDifference(data, All(data.rows()));
    EXPECT_GE(ratio, c.low) << c.what;
    EXPECT_LE(ratio, c.high) << c.what;
    EXPECT_EQ(RowsPerRun(data, All(data.rows())), c.run) << c.what;
  }
}

TEST(SequenceTest, FewRowsAreInNoOrder) {
  const WindowedRows data = Table(10, 1, [](auto r, auto, double) { return Wave(r); });
  EXPECT_EQ(SuccessiveDifference(data, {}), 1.0);
  EXPECT_EQ(SuccessiveDifference(data, All(2)), 1.0);
}

TEST(SequenceTest, NeighboursShareAFold) {
  const WindowedRows data = Table(6'400, 1, [](auto r, auto, double) { return Wave(r); });
  const auto rows = All(data.rows());
  const TrainSettings settings;
  const Folds folds = MakeFolds(settings, rows, data.rows(), RowsPerRun(data, rows));
  std::vector<std::size_t> in_fold(folds.folds);
  for (std::size_t row = 0; row < data.rows(); ++row) {
    EXPECT_EQ(folds.of_row[row], folds.of_row[row / 64 * 64]) << row;
    ++in_fold[folds.of_row[row]];
  }
  for (const std::size_t count : in_fold) EXPECT_EQ(count, data.rows() / folds.folds);
  const WindowedRows windows = Table(
      100, 1, [](auto, auto, double x) { return x; }, 5);
  EXPECT_EQ(RowsPerRun(windows, All(100)), 80U);
}

}  // namespace
}  // namespace ringward::learn
