#include "comm/local/local_communicator.h"

#include <gtest/gtest.h>

#include <vector>

#include "comm/communicator_contract.h"
#include "comm/failure_contract.h"

namespace ringward::comm {
namespace {

EngineUnderTest Local(int world) {
  return {.name = "local", .world = world, .run = [](int size, auto timeout, const RankBody& body) {
            RunRanks(size, body, timeout);
          }};
}

INSTANTIATE_TEST_SUITE_P(Local, CommunicatorContract,
                         testing::Values(Local(1), Local(2), Local(3), Local(4), Local(8)),
                         ContractName);
INSTANTIATE_TEST_SUITE_P(Local, FailureContract,
                         testing::Values(Local(2), Local(3), Local(4), Local(8)), ContractName);

struct Mismatch {
  const char* what;
  std::function<Status(Communicator&, Buffer)> odd;  // rank 1's call; the others sum 8 floats
};

TEST(LocalGroupTest, MismatchedCallsAreToldOnEveryRank) {
  const std::vector<Mismatch> table = {
      {"operation", [](auto& c, Buffer b) { return c.Broadcast(b, 0); }},
      {"count",
       [](auto& c, Buffer b) {
         return c.AllReduce({b.data, 7, b.dtype}, ReduceOp::kSum);
       }},
      {"type",
       [](auto& c, Buffer b) {
         return c.AllReduce({b.data, 8, DType::kInt32}, ReduceOp::kSum);
       }},
      {"reduction", [](auto& c, Buffer b) { return c.AllReduce(b, ReduceOp::kMax); }},
  };
  for (const Mismatch& mismatch : table) {
    RunRanks(3, [&](Communicator& comm) {
      std::vector<float> data(8, 1.0F);
      const Status status = comm.rank() == 1 ? mismatch.odd(comm, AsBuffer(data))
                                             : comm.AllReduce(AsBuffer(data), ReduceOp::kSum);
      ASSERT_TRUE(FailsWith(status, Code::kInvalidInput)) << mismatch.what;
      EXPECT_NE(status.error().what().find(mismatch.what), std::string::npos)
          << status.error().what();
    });
  }
}

TEST(LocalGroupTest, TimeoutNamesWhoIsMissing) {
  auto group = MakeLocalGroup(3, std::chrono::milliseconds(50));
  const Status status = group[1]->Barrier({.step = 12});
  ASSERT_TRUE(FailsWith(status, Code::kTimeout));
  EXPECT_EQ(status.error().what(),
            "no word from rank 0, 2 within 50 ms (while barrier 0 of step 12 on rank 1)");
}

TEST(LocalGroupTest, AGroupOfOneNeedsNobody) {
  auto alone = MakeLocal();
  std::vector<float> data = {3.0F};
  EXPECT_TRUE(alone->AllReduce(AsBuffer(data), ReduceOp::kAverage));
  EXPECT_EQ(data[0], 3.0F);
}

}  // namespace
}  // namespace ringward::comm
