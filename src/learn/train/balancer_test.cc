#include "learn/train/balancer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <vector>

#include "comm/local/local_communicator.h"

namespace ringward::learn {
namespace {

constexpr std::size_t kBatch = 512;

/// A rank that takes `per_row` for each row of its own work, and then waits for the others.
class FakeRank {
 public:
  explicit FakeRank(comm::Communicator& comm)
      : rank_(static_cast<std::size_t>(comm.rank())), balancer_(comm, clock_) {}

  void Steps(int count, std::chrono::microseconds per_row) {
    for (int i = 0; i < count; ++i) {
      const std::size_t rows = Rows();
      for (int part = 0; part < 2; ++part) {  // as with trimming, which waits in the middle
        balancer_.Work();
        clock_.Advance(per_row * static_cast<int>(rows) / 2);
        balancer_.Pause();
        clock_.Advance(std::chrono::seconds(rank_ + 1));
      }
      ASSERT_TRUE(balancer_.EndStep(rows));
    }
  }
  std::size_t Rows() const { return balancer_.shares().Cut(kBatch)[rank_].size(); }

 private:
  std::size_t rank_;
  ManualClock clock_;
  Balancer balancer_;
};

TEST(BalancerTest, ASlowRankGetsFewerRowsUntilItRecovers) {
  using std::chrono::microseconds;
  for (const int world : {2, 4}) {
    comm::RunRanks(world, [&](comm::Communicator& comm) {
      const std::size_t even = kBatch / static_cast<std::size_t>(world);
      const bool slow = comm.rank() == 1;
      FakeRank rank(comm);
      EXPECT_EQ(rank.Rows(), even);
      rank.Steps(50, microseconds(10));
      EXPECT_EQ(rank.Rows(), even);
      rank.Steps(50, microseconds(slow ? 15 : 10));
      EXPECT_EQ(rank.Rows() < even, slow) << "rank " << comm.rank() << " of " << world;
      rank.Steps(100, microseconds(10));
      EXPECT_EQ(rank.Rows(), even) << "rank " << comm.rank() << " of " << world;
    });
  }
}

TEST(BalancerTest, KnowsMostAfterTheFirstSteps) {
  comm::RunRanks(2, [](comm::Communicator& comm) {
    FakeRank rank(comm);
    rank.Steps(7, std::chrono::microseconds(comm.rank() == 0 ? 20 : 10));
    EXPECT_EQ(rank.Rows(), comm.rank() == 0 ? 176U : 336U);
  });
}

TEST(BalancerTest, AClockThatStandsStillChangesNothing) {
  comm::RunRanks(2, [](comm::Communicator& comm) {
    FakeRank rank(comm);
    rank.Steps(20, std::chrono::microseconds(0));
    EXPECT_EQ(rank.Rows(), kBatch / 2);
  });
}

TEST(BalancerTest, TellsWhatTheCommunicatorSays) {
  comm::RunRanks(2, [](comm::Communicator& comm) {
    const ManualClock clock;
    Balancer balancer(comm, clock);
    if (comm.rank() == 1) return comm.Abort("had enough");
    const Status status = balancer.EndStep(1);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), Code::kAborted);
  });
}

}  // namespace
}  // namespace ringward::learn
