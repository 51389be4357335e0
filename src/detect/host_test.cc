// What the ranks' machines tell, and what detectors make of it: add a row.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "detect/detect_test_support.h"
#include "detect/rise.h"

namespace ringward::detect {
namespace {

using signal::Known;
using Values = std::vector<float>;

constexpr std::int64_t kTroubleFrom = 200;
constexpr float kGiB = 1073741824.0F;

/// Every rank stands in the queue for 2 % of the time, with noise.
Values Waits(std::size_t world, std::int64_t step, float usual = 0.02F) {
  Rng random(7, RngPurpose::kTest, static_cast<std::uint64_t>(step));
  Values waits(world);
  for (float& wait : waits) wait = usual * static_cast<float>(0.5 + random.Uniform());
  return waits;
}

/// Rank 3 is slow by half from kTroubleFrom on, which is 0.28 s of a second; `wait` of it in the
/// queue.
/// `others` of every core is used by others.
Trouble SlowRank(float wait, float stolen = 0.0F, float usual = 0.02F, std::int64_t every = 1,
                 float others = 0.4F) {
  return [=](std::int64_t step, StepNumbers& numbers) {
    const bool slow = step >= kTroubleFrom;
    if (slow) numbers.compute[3] *= 1.5F;
    if (step % every != 0) return;
    Values waits = Waits(numbers.compute.size(), step, usual);
    Values stolen_share(waits.size(), 0.0F);
    if (slow) waits[3] += wait;
    if (slow) stolen_share[3] = stolen;
    numbers.machine[Known::kRunWait] = waits;
    numbers.machine[Known::kCoreStolen] = stolen_share;
    numbers.machine[Known::kCore] = {0, 1, 2, 3, 4, 5, 6, 7};
    numbers.machine[Known::kCoreOthers] = Values(waits.size(), others);
  };
}

/// One value for all ranks.
Trouble Machine(Known metric, float (*value)(std::int64_t step)) {
  return [=](std::int64_t step, StepNumbers& numbers) {
    numbers.machine[metric] = Values(numbers.compute.size(), value(step));
  };
}

/// All ranks of the first host, or of both, have no core for `share` of the time.
Trouble Overload(float share, std::size_t ranks) {
  return [=](std::int64_t step, StepNumbers& numbers) {
    Values waits = Waits(numbers.compute.size(), step);
    for (std::size_t r = 0; r < ranks && step >= kTroubleFrom; ++r) waits[r] += share;
    numbers.machine[Known::kRunWait] = waits;
    numbers.machine[Known::kCpuPressure] = Values(waits.size(), 0.9F);
  };
}

/// Rank 3 is slow by half from kTroubleFrom on; its GPU was held back for `before` of the time and
/// is then for `then`, `queued` of the time it has no core.
Trouble HeldBack(float before, float then, float queued = 0.0F) {
  return [=](std::int64_t step, StepNumbers& numbers) {
    SlowRank(queued)(step, numbers);
    Values share(numbers.compute.size(), 0.0F);
    share[3] = step < kTroubleFrom ? before : then;
    numbers.machine[Known::kGpu] = {0, 1, 2, 3, 0, 1, 2, 3};
    numbers.machine[Known::kGpuHeldBack] = share;
    numbers.machine[Known::kGpuReasons] = Values(share.size(), 64.0F);
    numbers.machine[Known::kGpuTemperature] = Values(share.size(), 91.0F);
    numbers.machine[Known::kGpuClock] = Values(share.size(), 705e6F);
  };
}

/// Rank 5's GPU counts `before` errors, then `then`; what is missing is not told.
Trouble GpuErrors(float before, float then) {
  return [=](std::int64_t step, StepNumbers& numbers) {
    Values errors(numbers.compute.size(), 0.0F);
    errors[5] = step < kTroubleFrom ? before : then;
    numbers.machine[Known::kGpuErrors] = errors;
  };
}

struct MachineRow {
  const char* title;
  Trouble trouble;
  std::vector<std::string> told;
};

std::vector<MachineRow> MachineRows() {
  return {
      {"slow by itself", SlowRank(0.0F), {"rank-slow 3"}},
      {"for want of a core", SlowRank(0.28F), {"rank-starved 3"}},
      {"told every fourth step", SlowRank(0.28F, 0.0F, 0.02F, 4), {"rank-starved 3"}},
      {"stolen by the hypervisor", SlowRank(0.05F, 0.25F), {"rank-starved 3"}},
      {"crowded before, and now without a core", SlowRank(0.11F, 0.0F, 0.5F), {"rank-starved 3"}},
      {"mostly its own", SlowRank(0.1F), {"rank-slow 3"}},
      {"slower where nobody has a core",
       SlowRank(0.0F, 0.0F, 0.95F),
       {"host-busy 0 1 2 3", "host-busy 4 5 6 7", "rank-starved 3"}},
      {"no more than it always waits", SlowRank(0.0F, 0.0F, 0.35F), {"rank-slow 3"}},
      {"no more than it always waits, for others on its core",
       SlowRank(0.0F, 0.0F, 0.35F, 1, 0.7F),
       {"rank-starved 3"}},
      {"mostly its own, on a core that others use",
       SlowRank(0.02F, 0.0F, 0.1F, 1, 0.7F),
       {"rank-slow 3"}},
      {"its GPU is held back", HeldBack(0.0F, 1.0F), {"rank-throttled 3"}},
      {"its GPU is held back most of the time", HeldBack(0.1F, 0.7F), {"rank-throttled 3"}},
      {"its GPU is held back now and then", HeldBack(0.0F, 0.3F), {"rank-slow 3"}},
      {"its GPU always was held back", HeldBack(1.0F, 1.0F), {"rank-slow 3"}},
      {"held back, and for want of a core", HeldBack(0.0F, 1.0F, 0.28F), {"rank-starved 3"}},
      {"a GPU's memory breaks", GpuErrors(0.0F, 1.0F), {"gpu-errors 5"}},
      {"a GPU's memory broke long ago", GpuErrors(2.0F, 2.0F), {}},
      {"a GPU was reset", GpuErrors(2.0F, 0.0F), {}},
      {"a GPU tells of errors later", GpuErrors(signal::kMissing, 2.0F), {}},
      {"a host without cores", Overload(0.4F, 4), {"host-busy 0 1 2 3"}},
      {"three of four wait, nobody is slower", Overload(0.4F, 3), {}},
      {"a little", Overload(0.1F, 4), {}},
      {"swap",
       Machine(Known::kSwapBytes,
               [](std::int64_t step) { return step < kTroubleFrom ? 1e5F : 5e7F; }),
       {"host-swaps 0 1 2 3", "host-swaps 4 5 6 7"}},
      {"swap now and then",
       Machine(Known::kSwapBytes, [](std::int64_t step) { return step % 8 < 4 ? 0.0F : 5e7F; }),
       {}},
      {"memory falls",
       Machine(Known::kMemoryLeft,
               [](std::int64_t step) { return kGiB * (16.0F - 0.02F * static_cast<float>(step)); }),
       {"memory-runs-out 0 1 2 3", "memory-runs-out 4 5 6 7"}},
      {"memory falls, and will for days",
       Machine(Known::kMemoryLeft,
               [](std::int64_t step) { return kGiB * (16.0F - 1e-5F * static_cast<float>(step)); }),
       {}},
      {"memory comes and goes",
       Machine(
           Known::kMemoryLeft,
           [](std::int64_t step) { return kGiB * (16.0F - 0.2F * static_cast<float>(step % 40)); }),
       {}},
      {"a disk fills up",
       Machine(Known::kTemporaryFree,
               [](std::int64_t step) { return kGiB * (99.0F - 0.02F * static_cast<float>(step)); }),
       {"disk-runs-out 0 1 2 3", "disk-runs-out 4 5 6 7"}},
      {"hostile",
       Machine(Known::kRunWait, [](std::int64_t step) { return step % 2 == 0 ? -1e30F : 1e30F; }),
       {"host-busy 0 1 2 3", "host-busy 4 5 6 7"}},
  };
}

TEST(HostTest, WhatMachinesTell) {
  for (const MachineRow& row : MachineRows()) {
    SCOPED_TRACE(row.title);
    std::vector<std::string> told;
    for (const signal::Finding& finding : Latest(Watch(EventsOf(SmallJob(), row.trouble)))) {
      told.push_back(Brief(finding));
      EXPECT_TRUE(finding.over) << finding.evidence;
    }
    EXPECT_EQ(told, row.told);
  }
}

/// The first word on a rank is the right one: what a source tells once a second is waited for.
TEST(HostTest, NobodyIsCalledSlowBeforeItsMachineWasAsked) {
  for (const auto& finding : Watch(EventsOf(SmallJob(), SlowRank(0.28F, 0.0F, 0.02F, 2)))) {
    EXPECT_EQ(finding.kind, signal::FindingKind::kRankStarved);
    EXPECT_EQ(finding.host, "node0");
    EXPECT_NE(finding.evidence.find("stood in the queue of core 3 for"), std::string::npos)
        << finding.evidence;
    EXPECT_NE(finding.evidence.find("others used 40 % of that core"), std::string::npos);
  }
}

TEST(HostTest, AGpuThatIsHeldBackIsTheEvidence) {
  const auto findings = Watch(EventsOf(SmallJob(), HeldBack(0.0F, 1.0F)));
  ASSERT_FALSE(findings.empty());
  for (const auto& finding : findings) {
    EXPECT_NE(finding.evidence.find("its GPU 3 was held back for 100 % of the time (too hot; 705 "
                                    "MHz; 91 degrees)"),
              std::string::npos)
        << finding.evidence;
  }
}

TEST(HostTest, AGpuWhoseMemoryBreaksIsToldWhenItDoes) {
  const auto findings = Watch(EventsOf(SmallJob(), GpuErrors(1.0F, 4.0F)));
  ASSERT_EQ(findings.size(), 2U);  // and its end
  EXPECT_EQ(findings[0].step, kTroubleFrom);
  EXPECT_EQ(findings[0].evidence,
            "GPU of rank 5 on host node1 counts 4 memory errors beyond repair, 1 before");
}

TEST(RiseTest, Lines) {
  std::vector<double> t;
  std::vector<float> straight;
  std::vector<float> bent;
  for (std::size_t i = 0; i < kRiseBlocks; ++i) {
    t.push_back(10.0 * static_cast<double>(i));
    straight.push_back(3.0F * static_cast<float>(i));
    bent.push_back(0.01F * static_cast<float>(i) + (i < 6 ? 0.0F : 100.0F));
  }
  const Rise line = RiseOf(t, straight);
  EXPECT_EQ(line.rises, 11);
  EXPECT_DOUBLE_EQ(line.slope, 0.3);
  EXPECT_DOUBLE_EQ(line.growth, 33.0);
  EXPECT_TRUE(line.straight);
  EXPECT_FALSE(RiseOf(t, bent).straight);
  EXPECT_EQ(RiseOf(t, std::vector<float>(kRiseBlocks, 1.0F)).rises, 0);
}

}  // namespace
}  // namespace ringward::detect
