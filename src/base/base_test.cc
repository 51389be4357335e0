#include <gtest/gtest.h>

#include <cmath>
#include <new>
#include <stdexcept>
#include <system_error>

#include "base/caught.h"
#include "base/clock.h"
#include "base/exit_code.h"
#include "base/result.h"
#include "base/rng.h"

namespace ringward {
namespace {

Result<int> Half(int x) {
  if (x % 2 != 0) return Error(Code::kInvalidInput, "odd number");
  return x / 2;
}

Result<int> Quarter(int x) {
  RINGWARD_ASSIGN(const int half, Half(x));
  auto quarter = Half(half);
  if (!quarter) return std::move(quarter).error().While("halving twice");
  return quarter;
}

TEST(ResultTest, ChainsWhatWasBeingDone) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(3).error().what(), "odd number");
  EXPECT_EQ(Quarter(6).error().what(), "odd number (while halving twice)");
  EXPECT_EQ(ExitCodeOf(Quarter(6).error().code()), kExitBadInput);
}

TEST(ResultDeathTest, ReadingAFailedResultStops) {
  EXPECT_DEATH((void)*Quarter(3), "check failed");
}

// Known answers of Philox4x32-10 from the Random123 distribution (kat_vectors).
TEST(RngTest, MatchesPublishedVectors) {
  using Block = std::array<std::uint32_t, 4>;
  EXPECT_EQ(Philox({0, 0}, {0, 0, 0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(RngTest, StreamsDependOnEveryKeyAndRepeat) {
  const auto first = [](std::uint64_t s, RngPurpose p, std::uint64_t a, std::uint32_t b) {
    return Rng(s, p, a, b)();
  };
  const auto base = first(1, RngPurpose::kNoise, 2, 3);
  EXPECT_EQ(base, first(1, RngPurpose::kNoise, 2, 3));
  EXPECT_NE(base, first(2, RngPurpose::kNoise, 2, 3));
  EXPECT_NE(base, first(1, RngPurpose::kDropout, 2, 3));
  EXPECT_NE(base, first(1, RngPurpose::kNoise, 3, 3));
  EXPECT_NE(base, first(1, RngPurpose::kNoise, 2, 4));
}

TEST(RngTest, NormalHasUnitMoments) {
  Rng rng(7);
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.Normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1.0, 0.02);
}

TEST(RngTest, BelowCoversItsRangeEvenly) {
  Rng rng(3);
  std::array<int, 3> seen{};
  for (int i = 0; i < 30'000; ++i) ++seen[rng.Below(3)];
  for (const int count : seen) EXPECT_NEAR(count, 10'000, 400);
}

TEST(CaughtTest, SaysWhatAnExceptionMeans) {
  const auto what = [](auto thrown) {
    const auto status = Guarded([&]() -> Result<int> { throw thrown; });
    return status ? "" : status.error().what();
  };
  const auto again = std::make_error_code(std::errc::resource_unavailable_try_again);
  EXPECT_EQ(what(std::bad_alloc()), "out of memory");
  EXPECT_EQ(what(std::system_error(again)),
            "cannot start a thread: Resource temporarily unavailable");
  EXPECT_EQ(what(std::runtime_error("a\nb")), "unexpected failure: a\\nb");
  EXPECT_EQ(what(7), "unexpected failure");
  EXPECT_EQ(*Guarded([]() -> Result<int> { return 5; }), 5);
}

TEST(ClockTest, ManualClockMovesOnlyWhenTold) {
  ManualClock clock;
  EXPECT_EQ(clock.Now().count(), 0);
  clock.Advance(std::chrono::seconds(2));
  EXPECT_EQ(clock.Now(), std::chrono::seconds(2));
  EXPECT_GT(SystemClock().WallNow().count(), 0);
}

}  // namespace
}  // namespace ringward
