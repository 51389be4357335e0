#include "comm/communicator_contract.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "comm/contract_values.h"

namespace ringward::comm {
namespace {

TEST_P(CommunicatorContract, KnowsItsPlace) {
  Run([&](Communicator& comm) {
    EXPECT_EQ(comm.size(), world());
    EXPECT_GE(comm.rank(), 0);
    EXPECT_LT(comm.rank(), world());
    EXPECT_NE(std::string(comm.engine()), "");
  });
}

TEST_P(CommunicatorContract, AllReduceOfEveryOpTypeAndOddSize) {
  Run([&](Communicator& comm) {
    for (const DType dtype : contract::kAllDTypes) {
      for (const ReduceOp op : contract::kAllOps) {
        for (const std::size_t count : {1U, 2U, 3U, 7U, 8U, 65U, 1000U, 4099U}) {
          contract::Values data(dtype, count);
          contract::Fill(data, Seed() + count, comm.rank(), op);
          ASSERT_TRUE(Succeeds(comm.AllReduce(data.buffer(), op, {.step = count})));
          ASSERT_EQ(contract::DifferenceFromReduction(data, Seed() + count, world(), op), "");
        }
      }
    }
  });
}

TEST_P(CommunicatorContract, AllReduceOfAMillion) {
  Run([&](Communicator& comm) {
    std::vector<float> data((1U << 20) + 3, static_cast<float>(comm.rank() + 1));
    ASSERT_TRUE(Succeeds(comm.AllReduce(AsBuffer(data), ReduceOp::kSum)));
    const auto want = static_cast<float>(world() * (world() + 1) / 2);
    EXPECT_EQ(std::count(data.begin(), data.end(), want), std::ssize(data));
  });
}

TEST_P(CommunicatorContract, ReductionsLeaveTheSameBitsEverywhere) {
  Run([&](Communicator& comm) {
    for (const std::size_t count : {5U, 513U, 40'000U}) {
      std::vector<float> data(count);
      Rng rng(Seed(), RngPurpose::kTest, count, static_cast<std::uint32_t>(comm.rank()));
      for (float& x : data) x = static_cast<float>(rng.Normal());
      ASSERT_TRUE(Succeeds(comm.AllReduce(AsBuffer(data), ReduceOp::kSum)));
      std::vector<float> of_root = data;
      ASSERT_TRUE(Succeeds(comm.Broadcast(AsBuffer(of_root), 0)));
      EXPECT_EQ(std::memcmp(data.data(), of_root.data(), count * sizeof(float)), 0);
    }
  });
}

TEST_P(CommunicatorContract, NanSurvivesMinAndMax) {
  Run([&](Communicator& comm) {
    for (const DType dtype : contract::kFloatDTypes) {
      for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax}) {
        for (int guilty = 0; guilty < world(); ++guilty) {
          contract::Values data(dtype, 19);
          for (std::size_t i = 0; i < data.count(); ++i) data.Set(i, comm.rank());
          if (comm.rank() == guilty) {
            for (const std::size_t i : {0U, 9U, 18U}) data.Set(i, std::nan(""));
          }
          ASSERT_TRUE(Succeeds(comm.AllReduce(data.buffer(), op)));
          for (std::size_t i = 0; i < data.count(); ++i) {
            EXPECT_EQ(std::isnan(data.Get(i)), i % 9 == 0)
                << NameOf(op) << " of " << NameOf(dtype) << " at " << i << ", NaN on " << guilty;
          }
        }
      }
    }
  });
}

TEST_P(CommunicatorContract, AveragesOfLargeHalvesDoNotOverflow) {
  Run([&](Communicator& comm) {
    for (const auto& [dtype, large] :
         {std::pair{DType::kFloat16, 60'000.0}, {DType::kBFloat16, 3e38}}) {
      contract::Values data(dtype, 11);
      for (std::size_t i = 0; i < data.count(); ++i) data.Set(i, large);
      ASSERT_TRUE(Succeeds(comm.AllReduce(data.buffer(), ReduceOp::kAverage)));
      for (std::size_t i = 0; i < data.count(); ++i) {
        EXPECT_NEAR(data.Get(i) / large, 1.0, 0x1p-6 * world()) << NameOf(dtype);
      }
    }
  });
}

TEST_P(CommunicatorContract, IntegersTruncateAveragesAndWrapSums) {
  Run([&](Communicator& comm) {
    // The sum is -(2 size - 1): just above -2 on average.
    std::vector<std::int64_t> low(3, comm.rank() == 0 ? -1 : -2);
    ASSERT_TRUE(Succeeds(comm.AllReduce(AsBuffer(low), ReduceOp::kAverage)));
    EXPECT_EQ(low.back(), -1);
    std::vector<std::int32_t> wide(3, comm.rank() == 0 ? INT32_MAX : 1);
    ASSERT_TRUE(Succeeds(comm.AllReduce(AsBuffer(wide), ReduceOp::kSum)));
    const auto want = static_cast<std::int64_t>(INT32_MAX) + world() - 1;
    EXPECT_EQ(wide.back(), static_cast<std::int32_t>(want));
  });
}

TEST_P(CommunicatorContract, EmptyBuffersAreFine) {
  Run([&](Communicator& comm) {
    const std::vector<std::size_t> none(static_cast<std::size_t>(world()), 0);
    const Buffer empty{nullptr, 0, DType::kFloat32};
    EXPECT_TRUE(Succeeds(comm.AllReduce(empty, ReduceOp::kAverage)));
    EXPECT_TRUE(Succeeds(comm.Broadcast(empty, world() - 1)));
    EXPECT_TRUE(Succeeds(comm.AllGatherV(empty, empty, none)));
    EXPECT_TRUE(Succeeds(comm.ReduceScatter(empty, empty, none, ReduceOp::kMax)));
    auto handle = comm.AllReduceAsync(empty, ReduceOp::kSum);
    ASSERT_TRUE(handle);
    EXPECT_TRUE(Succeeds((*handle)->Wait()));
    EXPECT_TRUE(Succeeds(comm.Barrier()));
  });
}

TEST_P(CommunicatorContract, AllGatherOfUnevenParts) {
  Run([&](Communicator& comm) {
    for (const DType dtype : contract::kAllDTypes) {
      for (const std::size_t scale : {1U, 7U, 1031U}) {
        for (const bool in_place : {false, true}) {
          const auto counts = contract::UnevenCounts(world(), scale);
          const auto me = static_cast<std::size_t>(comm.rank());
          const auto before = std::accumulate(counts.begin(), counts.begin() + comm.rank(), 0UL);
          contract::Values own(dtype, counts[me]);
          contract::Values all(dtype, std::accumulate(counts.begin(), counts.end(), 0UL));
          for (std::size_t i = 0; i < own.count(); ++i) own.Set(i, comm.rank() * 10 + int(i % 10));
          for (std::size_t i = 0; i < own.count(); ++i) all.Set(before + i, own.Get(i));
          const Buffer send = in_place ? all.slice(before, counts[me]) : own.buffer();
          ASSERT_TRUE(Succeeds(comm.AllGatherV(send, all.buffer(), counts)));
          EXPECT_TRUE(all.GuardIntact());
          std::size_t at = 0;
          for (std::size_t r = 0; r < counts.size(); ++r) {
            for (std::size_t i = 0; i < counts[r]; ++i, ++at) {
              ASSERT_EQ(all.Get(at), static_cast<double>(r * 10 + i % 10)) << NameOf(dtype);
            }
          }
        }
      }
    }
  });
}

TEST_P(CommunicatorContract, BroadcastFromEveryRoot) {
  Run([&](Communicator& comm) {
    for (const DType dtype : contract::kAllDTypes) {
      for (int root = 0; root < world(); ++root) {
        for (const std::size_t count : {1U, 3U, 2049U}) {
          contract::Values data(dtype, count);
          contract::Fill(data, Seed(), comm.rank(), ReduceOp::kSum);
          ASSERT_TRUE(Succeeds(comm.Broadcast(data.buffer(), root)));
          EXPECT_TRUE(data.GuardIntact());
          for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(data.Get(i), contract::ValueAt(Seed(), root, i, ReduceOp::kSum));
          }
        }
      }
    }
  });
}

TEST_P(CommunicatorContract, ReduceScatterOfUnevenParts) {
  Run([&](Communicator& comm) {
    for (const DType dtype : contract::kAllDTypes) {
      for (const ReduceOp op : contract::kAllOps) {
        for (const std::size_t scale : {1U, 13U, 700U}) {
          const auto counts = contract::UnevenCounts(world(), scale);
          const auto begin = std::accumulate(counts.begin(), counts.begin() + comm.rank(), 0UL);
          contract::Values send(dtype, std::accumulate(counts.begin(), counts.end(), 0UL));
          contract::Fill(send, Seed(), comm.rank(), op);
          contract::Values part(dtype, counts[static_cast<std::size_t>(comm.rank())]);
          ASSERT_TRUE(Succeeds(comm.ReduceScatter(send.buffer(), part.buffer(), counts, op)));
          ASSERT_EQ(contract::DifferenceFromReduction(part, Seed(), world(), op, begin), "");
          for (std::size_t i = 0; i < send.count(); ++i) {
            ASSERT_EQ(send.Get(i), contract::ValueAt(Seed(), comm.rank(), i, op)) << "send changed";
          }
        }
      }
    }
  });
}

TEST_P(CommunicatorContract, BarrierWaitsForAll) {
  std::atomic<int> entered{0};
  std::atomic<int> hosted{0};
  Run([&](Communicator& comm) {
    hosted.fetch_add(1);
    for (int round = 1; round <= 20; ++round) {
      entered.fetch_add(1);
      ASSERT_TRUE(Succeeds(comm.Barrier()));
      EXPECT_GE(entered.load(), round * hosted.load());
      ASSERT_TRUE(Succeeds(comm.Barrier()));
    }
  });
}

TEST_P(CommunicatorContract, AsyncHandles) {
  Run([&](Communicator& comm) {
    for (const DType dtype : contract::kAllDTypes) {
      for (const ReduceOp op : contract::kAllOps) {
        contract::Values data(dtype, 333);
        contract::Fill(data, Seed(), comm.rank(), op);
        auto handle = comm.AllReduceAsync(data.buffer(), op);
        ASSERT_TRUE(handle) << handle.error().what();
        if (op == ReduceOp::kSum) {
          while (!(*handle)->Done()) std::this_thread::yield();
        }
        ASSERT_TRUE(Succeeds((*handle)->Wait()));
        ASSERT_TRUE(Succeeds((*handle)->Wait())) << "the second time";
        EXPECT_TRUE((*handle)->Done());
        ASSERT_EQ(contract::DifferenceFromReduction(data, Seed(), world(), op), "");
      }
    }
  });
}

TEST_P(CommunicatorContract, OneAsyncOperationAtATime) {
  Run([&](Communicator& comm) {
    std::vector<double> data(100'000, 1.0);
    std::vector<double> other(10, 1.0);
    {
      auto first = comm.AllReduceAsync(AsBuffer(data), ReduceOp::kSum);
      ASSERT_TRUE(first) << first.error().what();
      if (world() > 1) {
        EXPECT_TRUE(FailsWith(comm.Barrier(), Code::kInvalidInput));
        auto second = comm.AllReduceAsync(AsBuffer(other), ReduceOp::kSum);
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().code(), Code::kInvalidInput);
      }
    }  // an unfinished handle waits
    EXPECT_EQ(data.back(), world());
    EXPECT_TRUE(Succeeds(comm.AllReduce(AsBuffer(other), ReduceOp::kSum)));
    EXPECT_EQ(other.back(), world());
  });
}

/// Calls observed, as text.
class Notes final : public CallObserver {
 public:
  void OnEnter(const char* operation, std::uint64_t sequence, std::size_t bytes) override {
    text += "+" + std::string(operation) + std::to_string(sequence) + ":" + std::to_string(bytes);
  }
  void OnExit(const char* operation, std::uint64_t sequence, bool ok) override {
    text += "-" + std::string(operation) + std::to_string(sequence) + (ok ? " " : "! ");
  }
  std::string text;
};

TEST_P(CommunicatorContract, ObserverSeesEveryCall) {
  Run([&](Communicator& comm) {
    Notes notes;
    comm.SetObserver(&notes);
    std::vector<float> data(6, 1.0F);
    std::vector<std::size_t> counts(static_cast<std::size_t>(world()), 2);
    std::vector<float> all(counts.size() * 2);
    std::vector<float> part(2);
    ASSERT_TRUE(Succeeds(comm.AllReduce(AsBuffer(data), ReduceOp::kSum)));
    ASSERT_TRUE(Succeeds(comm.Broadcast(AsBuffer(data), 0)));
    ASSERT_TRUE(Succeeds(comm.AllGatherV(AsBuffer(part), AsBuffer(all), counts)));
    ASSERT_TRUE(
        Succeeds(comm.ReduceScatter(AsBuffer(all), AsBuffer(part), counts, ReduceOp::kSum)));
    auto handle = comm.AllReduceAsync(AsBuffer(data), ReduceOp::kSum);
    ASSERT_TRUE(handle);
    ASSERT_TRUE(Succeeds((*handle)->Wait()));
    ASSERT_TRUE(Succeeds(comm.Barrier()));
    comm.SetObserver(nullptr);
    ASSERT_TRUE(Succeeds(comm.Barrier()));
    const std::string bytes = std::to_string(8 * world());
    EXPECT_EQ(notes.text, "+allreduce0:24-allreduce0 +broadcast1:24-broadcast1 +allgather2:" +
                              bytes + "-allgather2 +reducescatter3:" + bytes +
                              "-reducescatter3 +allreduce4:24-allreduce4 +barrier5:0-barrier5 ");
  });
}

/// A call that any rank can see is wrong; `f` is a float buffer of 4.
struct WrongCall {
  const char* what;
  std::function<Status(Communicator&, Buffer f)> call;
};

/// Elements of a buffer with `each` for every rank.
std::size_t Elements(const Communicator& c, std::size_t each) {
  return static_cast<std::size_t>(c.size()) * each;
}

std::vector<WrongCall> WrongCalls() {
  const auto counts = [](Communicator& c, std::size_t n) {
    return std::vector<std::size_t>(static_cast<std::size_t>(c.size()), n);
  };
  const Buffer null{nullptr, 4, DType::kFloat32};
  return {
      {"null", [=](auto& c, Buffer) { return c.AllReduce(null, ReduceOp::kSum); }},
      {"null broadcast", [=](auto& c, Buffer) { return c.Broadcast(null, 0); }},
      {"root too large", [](auto& c, Buffer f) { return c.Broadcast(f, c.size()); }},
      {"negative root", [](auto& c, Buffer f) { return c.Broadcast(f, -1); }},
      {"negative timeout",
       [](auto& c, Buffer) { return c.Barrier({.timeout = std::chrono::milliseconds(-1)}); }},
      {"too few counts", [](auto& c, Buffer f) { return c.AllGatherV(f, f, {}); }},
      {"counts against send",
       [=](auto& c, Buffer f) {
         std::vector<float> all(Elements(c, 3));
         return c.AllGatherV(f, AsBuffer(all), counts(c, 3));
       }},
      {"counts against receive",
       [=](auto& c, Buffer f) {
         std::vector<float> all(Elements(c, 4) + 1);
         return c.AllGatherV(f, AsBuffer(all), counts(c, 4));
       }},
      {"types",
       [=](auto& c, Buffer f) {
         std::vector<double> all(Elements(c, 4));
         return c.ReduceScatter(AsBuffer(all), f, counts(c, 4), ReduceOp::kSum);
       }},
      {"scatter overlap",
       [=](auto& c, Buffer) {
         std::vector<float> all(Elements(c, 4));
         return c.ReduceScatter(AsBuffer(all), AsBuffer(std::span(all).first(4)), counts(c, 4),
                                ReduceOp::kSum);
       }},
      {"impossible count",
       [=](auto& c, Buffer f) {
         return c.AllReduce({f.data, SIZE_MAX / 2, f.dtype}, ReduceOp::kSum);
       }},
  };
}

TEST_P(CommunicatorContract, WrongArgumentsBreakItWithOneLine) {
  for (const WrongCall& wrong : WrongCalls()) {
    SCOPED_TRACE(wrong.what);
    Run([&](Communicator& comm) {
      std::vector<float> data(4, 1.0F);
      const Status status = wrong.call(comm, AsBuffer(data));
      ASSERT_TRUE(FailsWith(status, Code::kInvalidInput));
      EXPECT_EQ(status.error().what().find('\n'), std::string::npos);
      EXPECT_TRUE(FailsWith(comm.Barrier(), Code::kInvalidInput)) << "every later call fails too";
    });
  }
}

TEST_P(CommunicatorContract, AfterAbortOwnCallsFail) {
  Run([&](Communicator& comm) {
    comm.Abort("out of cheese");
    const Status status = comm.Barrier();
    ASSERT_TRUE(FailsWith(status, Code::kAborted));
    EXPECT_NE(status.error().what().find("out of cheese"), std::string::npos);
    std::vector<float> data(4, 1.0F);
    auto handle = comm.AllReduceAsync(AsBuffer(data), ReduceOp::kSum);
    ASSERT_FALSE(handle);
    EXPECT_EQ(handle.error().code(), Code::kAborted);
  });
}

TEST_P(CommunicatorContract, RandomProgramsOfCalls) {
  Run([&](Communicator& comm) {
    Rng program(Seed(), RngPurpose::kTest, 77);  // the same on every rank
    for (int step = 0; step < 120; ++step) {
      const auto op = contract::kAllOps[program.Below(contract::kAllOps.size())];
      const auto dtype = contract::kAllDTypes[program.Below(contract::kAllDTypes.size())];
      const std::size_t count = program.Below(3000);
      const std::uint64_t seed = Seed() + static_cast<std::uint64_t>(step);
      contract::Values data(dtype, count);
      contract::Fill(data, seed, comm.rank(), op);
      if (program.Below(2) == 0) {
        auto handle = comm.AllReduceAsync(data.buffer(), op);
        ASSERT_TRUE(handle) << handle.error().what();
      } else {
        ASSERT_TRUE(Succeeds(comm.AllReduce(data.buffer(), op)));
      }
      ASSERT_EQ(contract::DifferenceFromReduction(data, seed, world(), op), "") << step;
      if (program.Below(4) == 0) {
        ASSERT_TRUE(Succeeds(comm.Barrier()));
      }
    }
  });
}

}  // namespace
}  // namespace ringward::comm
