#include "comm/shared_reduce.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "comm/contract_values.h"

namespace ringward::comm {
namespace {

constexpr std::uint64_t kValuesSeed = 20'261'130;

/// Runs the body for every rank of a group, on threads of this process with mappings of their own
/// (so the thread sanitizer, which goes by addresses, sees no races here, nor orderings).
void RunShared(int world, const std::function<void(SharedReduce&, int rank)>& body) {
  auto maker = SharedReduce::Create(0, world);
  ASSERT_TRUE(maker) << maker.error().what();
  std::vector<SharedReduce> ranks;
  ranks.push_back(std::move(*maker));
  for (int rank = 1; rank < world; ++rank) {
    auto peer = SharedReduce::Open(ranks.front().address(), rank, world);
    ASSERT_TRUE(peer) << peer.error().what();
    ranks.push_back(std::move(*peer));
  }
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < world; ++rank) {
    ranks[static_cast<std::size_t>(rank)].SetWaiting(rank % 2 == 0, nullptr);
    threads.emplace_back([&, rank] { body(ranks[static_cast<std::size_t>(rank)], rank); });
  }
}

class SharedReduceTest : public testing::TestWithParam<int> {};

void ExpectReduced(SharedReduce& shared, int rank, int world, contract::Values data, ReduceOp op) {
  const std::uint64_t seed = kValuesSeed + data.count();
  contract::Fill(data, seed, rank, op);
  ASSERT_TRUE(shared.AllReduce(data.buffer(), op));
  ASSERT_EQ(contract::DifferenceFromReduction(data, seed, world, op), "")
      << NameOf(op) << " of " << data.count() << ", seed " << seed;
}

TEST_P(SharedReduceTest, ReducesEveryTypeOpAndSize) {
  const int world = GetParam();
  RunShared(world, [&](SharedReduce& shared, int rank) {
    for (const DType dtype : contract::kAllDTypes) {
      for (const ReduceOp op :
           {ReduceOp::kSum, ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kProduct}) {
        for (const std::size_t count : {1U, 7U, 65U, 2049U}) {
          ExpectReduced(shared, rank, world, contract::Values(dtype, count), op);
        }
      }
    }
  });
}

TEST_P(SharedReduceTest, ReducesInPieces) {
  const int world = GetParam();
  RunShared(world, [&](SharedReduce& shared, int rank) {
    for (const std::size_t count :
         {16'384U, 1U, 16'385U, 0U, 50'001U}) {  // doubles: up to 4 pieces
      ExpectReduced(shared, rank, world, contract::Values(DType::kFloat64, count), ReduceOp::kSum);
    }
  });
}

TEST_P(SharedReduceTest, CallsThatDisagreeAreToldOnEveryRank) {
  const int world = GetParam();
  struct Row {
    Buffer odd;
    ReduceOp op;
    const char* told;
  };
  std::vector<double> room(16);
  const Row table[] = {{{room.data(), 9, DType::kFloat32}, ReduceOp::kSum, "9 x float"},
                       {{room.data(), 8, DType::kInt32}, ReduceOp::kSum, "8 x int32"},
                       {{room.data(), 8, DType::kFloat32}, ReduceOp::kMax, "max of 8 x float"}};
  for (const Row& row : table) {
    RunShared(world, [&](SharedReduce& shared, int rank) {
      std::vector<float> data(8, 1.0F);
      const bool odd = rank == world - 1;
      const Status status =
          shared.AllReduce(odd ? row.odd : AsBuffer(data), odd ? row.op : ReduceOp::kSum);
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code(), Code::kInvalidInput);
      EXPECT_NE(status.error().what().find(row.told), std::string::npos) << status.error().what();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, SharedReduceTest, testing::Values(2, 3, 4, 8),
                         [](const auto& one) { return "np" + std::to_string(one.param); });

TEST(SharedReduceAddressTest, WhatIsNotTheMemoryIsRefused) {
  auto maker = SharedReduce::Create(0, 2);
  ASSERT_TRUE(maker) << maker.error().what();
  const SharedReduce::Address good = maker->address();
  EXPECT_TRUE(SharedReduce::Open(good, 1, 2));
  EXPECT_FALSE(SharedReduce::Open(good, 1, 3)) << "another world";
  EXPECT_FALSE(SharedReduce::Open({}, 1, 2)) << "rank 0 could not make it";
  auto other = good;
  other.machine[0] = static_cast<char>(other.machine[0] ^ 1);
  EXPECT_FALSE(SharedReduce::Open(other, 1, 2)) << "another host";
  other = good;
  other.nonce ^= 1U;
  EXPECT_FALSE(SharedReduce::Open(other, 1, 2)) << "a descriptor used anew";
  for (const int fd : {0, 1, 2, 1 << 20}) {
    other = good;
    other.fd = fd;
    EXPECT_FALSE(SharedReduce::Open(other, 1, 2)) << "descriptor " << fd;
  }
  maker->Seal();
  EXPECT_FALSE(SharedReduce::Open(good, 1, 2)) << "sealed";
}

}  // namespace
}  // namespace ringward::comm
