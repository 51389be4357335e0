#include "comm/failure_contract.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

namespace ringward::comm {
namespace {

/// Codes with which a rank may learn of another's failure.
testing::AssertionResult FailsWithAny(const Status& status, std::initializer_list<Code> codes) {
  if (status) return testing::AssertionFailure() << "it succeeded";
  if (std::find(codes.begin(), codes.end(), status.error().code()) != codes.end()) {
    return testing::AssertionSuccess();
  }
  return FailsWith(status, *codes.begin());
}

TEST_P(FailureContract, AbortReachesThePeers) {
  Run([&](Communicator& comm) {
    std::vector<float> data(1000, 1.0F);
    ASSERT_TRUE(Succeeds(comm.AllReduce(AsBuffer(data), ReduceOp::kSum)));
    if (comm.rank() == world() - 1) return comm.Abort("disk on fire");
    Status status = comm.AllReduce(AsBuffer(data), ReduceOp::kSum);
    ASSERT_TRUE(FailsWith(status, Code::kAborted));
    EXPECT_NE(status.error().what().find("disk on fire"), std::string::npos)
        << status.error().what();
    EXPECT_NE(status.error().what().find("rank " + std::to_string(world() - 1)), std::string::npos);
    EXPECT_TRUE(FailsWith(comm.Barrier(), Code::kAborted));
  });
}

TEST_P(FailureContract, AWrongArgumentOfOneRankFreesThePeers) {
  Run([&](Communicator& comm) {
    std::vector<float> data(1000, 1.0F);
    if (comm.rank() == 0) {
      EXPECT_TRUE(FailsWith(comm.Broadcast(AsBuffer(data), -7), Code::kInvalidInput));
    } else {
      EXPECT_TRUE(FailsWith(comm.Broadcast(AsBuffer(data), 0), Code::kAborted));
    }
  });
}

TEST_P(FailureContract, AMissingPeerIsATimeout) {
  std::atomic<int> over{0};
  for (const bool async : {false, true}) {
    over = 0;
    Run(
        [&](Communicator& comm) {
          std::vector<float> data(1000, 1.0F);
          ASSERT_TRUE(Succeeds(comm.Barrier({.timeout = kPatient})));
          if (comm.rank() == 0) {  // alive, but never comes
            while (over.load() < world() - 1) std::this_thread::yield();
            return;
          }
          Status status = Ok();
          if (async) {
            auto handle = comm.AllReduceAsync(AsBuffer(data), ReduceOp::kSum);
            status = handle ? (*handle)->Wait() : Status(handle.error());
          } else {
            status = comm.AllReduce(AsBuffer(data), ReduceOp::kSum);
          }
          over.fetch_add(1);
          EXPECT_TRUE(FailsWith(status, Code::kTimeout));
          EXPECT_TRUE(FailsWith(comm.Barrier(), Code::kTimeout)) << "broken from then on";
        },
        kShort);
  }
}

TEST_P(FailureContract, APeerThatLeavesIsUnavailable) {
  Run([&](Communicator& comm) {
    std::vector<float> data(100'000, 1.0F);
    ASSERT_TRUE(Succeeds(comm.Barrier()));
    if (comm.rank() == 1) return;  // its communicator is destroyed
    EXPECT_TRUE(FailsWithAny(comm.AllReduce(AsBuffer(data), ReduceOp::kSum), {Code::kUnavailable}));
  });
}

}  // namespace
}  // namespace ringward::comm
