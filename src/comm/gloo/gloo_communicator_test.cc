#include "comm/gloo/gloo_communicator.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "comm/communicator_contract.h"
#include "comm/failure_contract.h"
#include "comm/store_server.h"

namespace ringward::comm {
namespace {

/// All ranks of a gloo group on threads of this process, with a store of their own.
void RunGloo(int world, std::chrono::milliseconds timeout, const RankBody& body) {
  auto store = StoreServer::Start({.job = "contract"});
  ASSERT_TRUE(store) << store.error().what();
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < world; ++rank) {
    threads.emplace_back([&, rank] {
      auto comm = MakeGloo({.rank = rank,
                            .size = world,
                            .store_port = (*store)->port(),
                            .job = "contract",
                            .timeout = timeout});
      ASSERT_TRUE(comm) << comm.error().what();
      body(**comm);
    });
  }
}

EngineUnderTest Gloo(int world) { return {.name = "gloo", .world = world, .run = RunGloo}; }

INSTANTIATE_TEST_SUITE_P(Gloo, CommunicatorContract,
                         testing::Values(Gloo(1), Gloo(2), Gloo(3), Gloo(4), Gloo(8)),
                         ContractName);
INSTANTIATE_TEST_SUITE_P(Gloo, FailureContract, testing::Values(Gloo(2), Gloo(3), Gloo(4), Gloo(8)),
                         ContractName);

}  // namespace
}  // namespace ringward::comm
