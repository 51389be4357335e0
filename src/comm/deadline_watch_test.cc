#include "comm/deadline_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace ringward::comm {
namespace {

using std::chrono::milliseconds;

TEST(DeadlineWatchTest, FiresOnceForACallThatHangs) {
  std::atomic<int> fired{0};
  std::atomic<int> waited{0};
  std::atomic<std::uint64_t> of{0};
  DeadlineWatch watch(milliseconds(1), {.expired =
                                            [&](std::uint64_t sequence, milliseconds timeout) {
                                              EXPECT_EQ(timeout, milliseconds(20));
                                              of = sequence;
                                              ++fired;
                                            },
                                        .waiting = [&](std::uint64_t) { ++waited; }});
  watch.Arm(7, milliseconds(20));
  while (fired == 0) std::this_thread::yield();
  const int then = waited;
  EXPECT_GE(then, 1);
  std::this_thread::sleep_for(milliseconds(30));
  EXPECT_EQ(fired, 1);
  EXPECT_EQ(of, 7U);
  watch.Disarm();
  watch.Arm(8, milliseconds(20));
  while (fired == 1) std::this_thread::yield();
  EXPECT_EQ(of, 8U);
}

TEST(DeadlineWatchTest, CallsThatEndInTimeNeverFire) {
  std::atomic<int> fired{0};
  DeadlineWatch watch(milliseconds(1),
                      {.expired = [&](std::uint64_t, milliseconds) { ++fired; }, .waiting = {}});
  const auto end = std::chrono::steady_clock::now() + milliseconds(100);
  std::uint64_t sequence = 0;
  while (std::chrono::steady_clock::now() < end) {
    watch.Arm(sequence++, milliseconds(60'000));
    watch.Disarm();
  }
  EXPECT_EQ(fired, 0);
}

}  // namespace
}  // namespace ringward::comm
