#include "base/progress.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/terminal.h"

namespace ringward {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct LineCase {
  std::uint64_t total;
  ProgressState state;
  Clock::Duration elapsed;
  ProgressStyle style;
  std::size_t width;
  std::string expected;
};

class ProgressLineTest : public testing::TestWithParam<LineCase> {};

TEST_P(ProgressLineTest, ShowsRateLossAndTimeLeft) {
  const LineCase& c = GetParam();
  const std::string line =
      ProgressLine("train", "rows", c.total, c.state, c.elapsed, c.style, c.width);
  EXPECT_EQ(line, c.expected);
  EXPECT_LE(DisplayWidth(line), c.width);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ProgressLineTest,
    testing::Values(
        LineCase{1000,
                 {.done = 250, .note = "epoch 1/4", .loss = 0.123456},
                 seconds(10),
                 ProgressStyle::kBar,
                 79,
                 "train [#####...............]  25 %  epoch 1/4  25 rows/s  loss 0.1235  30s left"},
        LineCase{1000,
                 {.done = 250},
                 seconds(10),
                 ProgressStyle::kBar,
                 120,
                 "train [########......................]  25 %  25 rows/s  30s left"},
        LineCase{1000,
                 {.done = 250},
                 seconds(10),
                 ProgressStyle::kBar,
                 30,
                 "train  25 %  25 rows/s  30s le"},
        LineCase{1000,
                 {.done = 250},
                 seconds(10),
                 ProgressStyle::kLines,
                 200,
                 "train  25 %  25 rows/s  30s left"},
        LineCase{1000,
                 {.done = 1000},
                 seconds(10),
                 ProgressStyle::kLines,
                 200,
                 "train 100 %  100 rows/s"},
        LineCase{1000,
                 {.done = 999},
                 seconds(1),
                 ProgressStyle::kLines,
                 200,
                 "train  99 %  999 rows/s  1s left"},
        LineCase{
            1000, {.done = 5000}, seconds(1), ProgressStyle::kLines, 200, "train 100 %  5k rows/s"},
        LineCase{0,
                 {.done = 1'234'567},
                 seconds(1),
                 ProgressStyle::kBar,
                 79,
                 "train 1.23M rows  1.23M rows/s"},
        LineCase{1000, {}, seconds(0), ProgressStyle::kLines, 200, "train   0 %  0 rows/s"},
        LineCase{10'000'000,
                 {.done = 1000},
                 seconds(1),
                 ProgressStyle::kLines,
                 200,
                 "train   0 %  1k rows/s  2h46m left"},
        LineCase{200,
                 {.done = 100, .loss = std::numeric_limits<double>::quiet_NaN()},
                 seconds(100),
                 ProgressStyle::kLines,
                 200,
                 "train  50 %  1 rows/s  loss nan  1m40s left"},
        LineCase{1000,
                 {.done = 500, .note = "größe"},
                 seconds(1),
                 ProgressStyle::kLines,
                 16,
                 "train  50 %  grö"}));

/// What Progress writes to standard error while the clock moves on by `step` before each update.
std::string Shown(ProgressStyle style, int updates, Clock::Duration step) {
  ManualClock clock;
  testing::internal::CaptureStderr();
  {
    Progress progress(style, clock, "train", "rows", 1'000'000);
    for (int i = 1; i <= updates; ++i) {
      clock.Advance(step);
      progress.Update({.done = static_cast<std::uint64_t>(i)});
    }
    progress.Finish();
    progress.Update({.done = 1'000'000});  // after the end nothing is shown
  }
  return testing::internal::GetCapturedStderr();
}

TEST(ProgressTest, RedrawsAtMostTenTimesASecond) {
  const std::string shown = Shown(ProgressStyle::kBar, 1000, milliseconds(1));
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\r'), 2 * 10 + 1);  // 10 frames, the erasure
  EXPECT_TRUE(shown.ends_with("\r\x1b[K"));
  EXPECT_EQ(shown.find('\n'), std::string::npos);
}

TEST(ProgressTest, PlainLinesAreRareAndEndWithTheLastState) {
  EXPECT_EQ(Shown(ProgressStyle::kLines, 9, seconds(1)), "");
  const std::string shown = Shown(ProgressStyle::kLines, 25, seconds(1));
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 3);
  EXPECT_EQ(shown.find_first_of("\r\x1b"), std::string::npos);
}

TEST(ProgressTest, QuietShowsNothing) {
  EXPECT_EQ(Shown(ProgressStyle::kOff, 1000, seconds(1)), "");
  EXPECT_EQ(DetectProgressStyle(/*quiet=*/true), ProgressStyle::kOff);
}

TEST(ProgressTest, LogLinesEraseTheBar) {
  ManualClock clock;
  testing::internal::CaptureStderr();
  {
    Progress progress(ProgressStyle::kBar, clock, "train", "rows", 0);
    progress.Update({.done = 1});
    WriteStderrLine("news");
    WriteStderrLine("more");
  }
  const std::string shown = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(shown.ends_with("\r\x1b[Knews\nmore\n")) << shown;
}

TEST(ProgressTest, ADeclaredTerminalIsTakenAsOne) {
  DeclareStderrTerminal(40);
  EXPECT_EQ(TerminalWidth(STDERR_FILENO), 40U);
  EXPECT_EQ(DetectProgressStyle(/*quiet=*/false), ProgressStyle::kBar);
  DeclareStderrTerminal(0);
}

}  // namespace
}  // namespace ringward
