#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <ostream>
#include <string>

#include "comm/communicator.h"

// The contract of comm/communicator.h as tests (failures that reach the peers: failure_contract.h).
// An engine's test links comm_contract, includes this header and says
//   INSTANTIATE_TEST_SUITE_P(Local, CommunicatorContract, testing::ValuesIn(...), ContractName);
// RINGWARD_TEST_SEED chooses other values; the seed is printed with every failure.
namespace ringward::comm {

using RankBody = std::function<void(Communicator&)>;

/// One engine at one world size.
struct EngineUnderTest {
  std::string name;
  int world = 1;
  /// Makes a new group of `world` ranks with the given deadline and runs the body for those that
  /// live in this process (all of them, or one under mpirun).
  std::function<void(int world, std::chrono::milliseconds timeout, const RankBody&)> run;
};

inline void PrintTo(const EngineUnderTest& engine, std::ostream* out) {
  *out << engine.name << " with " << engine.world << " ranks";
}

inline std::string ContractName(const testing::TestParamInfo<EngineUnderTest>& info) {
  return "np" + std::to_string(info.param.world);
}

class CommunicatorContract : public testing::TestWithParam<EngineUnderTest> {
 protected:
  static constexpr std::chrono::milliseconds kPatient{60'000};
  static constexpr std::chrono::milliseconds kShort{400};

  static std::uint64_t Seed() {
    const char* text = std::getenv("RINGWARD_TEST_SEED");
    return text == nullptr ? 20'260'101U : std::strtoull(text, nullptr, 10);
  }
  int world() const { return GetParam().world; }
  void Run(const RankBody& body, std::chrono::milliseconds timeout = kPatient) {
    GetParam().run(world(), timeout, [&](Communicator& comm) {
      SCOPED_TRACE("rank " + std::to_string(comm.rank()) +
                   ", RINGWARD_TEST_SEED=" + std::to_string(Seed()));
      body(comm);
    });
  }
};

/// Success of a Status inside an EXPECT, with its message.
inline testing::AssertionResult Succeeds(const Status& status) {
  if (status) return testing::AssertionSuccess();
  return testing::AssertionFailure() << status.error().what();
}

inline testing::AssertionResult FailsWith(const Status& status, Code code) {
  if (status) return testing::AssertionFailure() << "it succeeded";
  if (status.error().code() == code) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "code " << static_cast<int>(status.error().code()) << ": " << status.error().what();
}

}  // namespace ringward::comm
