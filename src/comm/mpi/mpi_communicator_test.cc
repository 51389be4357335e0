#include "comm/mpi/mpi_communicator.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include "comm/communicator_contract.h"
#include "comm/failure_contract.h"

// Runs under mpirun, every rank the same tests in the same order (see CMakeLists.txt). What happens
// when ranks die or freeze ends processes; tests/ does that through the launcher.
namespace ringward::comm {
namespace {

int WorldSize() {
  // Parameters are listed before any test runs, and MPI must run to know its size.
  static const int size = [] {
    const auto first = MakeMpi();
    return first ? (*first)->size() : 0;
  }();
  return size;
}

EngineUnderTest Mpi(const char* name, const MpiOptions& options) {
  return {.name = name,
          .world = WorldSize(),
          .run = [options](int, std::chrono::milliseconds timeout, const RankBody& body) {
            auto comm = MakeMpi({.timeout = timeout,
                                 .max_count = options.max_count,
                                 .shared_memory = options.shared_memory});
            ASSERT_TRUE(comm) << comm.error().what();
            body(**comm);
          }};
}

// MPI ends the job when a rank fails: tests/ looks at that from outside.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FailureContract);
INSTANTIATE_TEST_SUITE_P(Mpi, CommunicatorContract, testing::Values(Mpi("mpi", {})), ContractName);
INSTANTIATE_TEST_SUITE_P(MpiInPieces, CommunicatorContract,
                         testing::Values(Mpi("mpi in pieces",
                                             {.max_count = 1021, .shared_memory = false})),
                         ContractName);

}  // namespace
}  // namespace ringward::comm
