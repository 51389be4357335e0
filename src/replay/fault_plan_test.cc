#include "replay/fault_plan.h"

#include <gtest/gtest.h>

namespace ringward::replay {
namespace {

TEST(FaultPlanTest, ReadsAJobAndItsFaults) {
  JobOptions options;
  const Status done = ParseFaultPlan(
      "[job]\nworld = 16\nranks_per_host = 4\nsteps = 500\nseed = 7\n"
      "[[fault]]\nkind = \"kill\"\nonset = 400\nranks = [3]\n"
      "[[fault]]\nkind = \"slow-link\"\nonset = 100\nlength = 50\nseverity = 2\nhost = \"node2\"\n",
      "plan.toml", options);
  ASSERT_TRUE(done) << done.error().what();
  EXPECT_EQ(options.world, 16);
  EXPECT_EQ(options.steps, 500);
  EXPECT_EQ(options.step_seconds, JobOptions{}.step_seconds);
  ASSERT_EQ(options.faults.size(), 2U);
  EXPECT_EQ(options.faults[0].kind, FaultKind::kSlowLink);  // by onset
  EXPECT_EQ(options.faults[0].ranks, (std::vector<std::int32_t>{8, 9, 10, 11}));
  EXPECT_EQ(options.faults[0].hosts, std::vector<std::string>{"node2"});
  EXPECT_EQ(options.faults[1].length, 500);  // to the end
}

TEST(FaultPlanTest, WhatIsNotToLastEndsByItself) {
  const std::pair<const char*, std::int64_t> cases[] = {
      {"spike", 3}, {"freeze", 15}, {"slow-network", 500}, {"leak", 500}};
  for (const auto& [kind, length] : cases) {
    JobOptions options;
    const Status done = ParseFaultPlan(
        std::string("[job]\nsteps = 500\nstep_seconds = 2.0\n[[fault]]\nkind = \"") + kind + "\"\n",
        "plan.toml", options);
    ASSERT_TRUE(done) << done.error().what();
    EXPECT_EQ(options.faults[0].length, length) << kind;
  }
}

TEST(FaultPlanTest, WhatItWritesItReads) {
  JobOptions options{.world = 32, .ranks_per_host = 8, .stages = 4, .steps = 300, .seed = 11};
  options.faults = {
      {.kind = FaultKind::kUnevenPartition, .onset = 50, .length = 20, .severity = 0.3, .stage = 2},
      {.kind = FaultKind::kSlowRank, .onset = 60, .length = 20, .severity = 1.0, .ranks = {1, 5}}};
  JobOptions read;
  const Status done = ParseFaultPlan(FaultPlanText(options), "plan.toml", read);
  ASSERT_TRUE(done) << done.error().what();
  EXPECT_EQ(FaultPlanText(read), FaultPlanText(options));
  EXPECT_EQ(read.stages, 4);
  EXPECT_EQ(read.faults[1].ranks, (std::vector<std::int32_t>{1, 5}));
}

TEST(FaultPlanTest, RefusesWithThePlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"[job]\nworld = 1\n", "plan.toml:2:9: world: expected a whole number from 2 to 16384"},
      {"[job]\nworld = 8.5\n", "plan.toml:2:9: world: expected a whole number from 2 to 16384"},
      {"[job]\nworlds = 8\n", "plan.toml:2:10: worlds: is not known here"},
      {"faults = 3\n", "plan.toml:1:10: faults: is not known here"},
      {"[job]\nstages = 3\nworld = 8\n", "plan.toml: job.stages: must divide job.world"},
      {"[[fault]]\nonset = 3\n", "plan.toml:1:1: kind: is missing"},
      {"[[fault]]\nkind = \"slow\"\n", "plan.toml:2:8: kind: no kind of fault is called 'slow'"},
      {"[[fault]]\nkind = \"nan\"\nranks = [64]\n",
       "plan.toml:3:10: ranks: expected ranks from 0 to 63"},
      {"[[fault]]\nkind = \"nan\"\nhost = \"elsewhere\"\n",
       "plan.toml:3:8: host: the job has no such host"},
      {"[[fault]]\nkind = \"nan\"\nlength = 0\n",
       "plan.toml:3:10: length: expected a whole number from 1 to 1000000000"},
  };
  for (const auto& [text, message] : cases) {
    JobOptions options;
    const Status done = ParseFaultPlan(text, "plan.toml", options);
    ASSERT_FALSE(done) << text;
    EXPECT_EQ(done.error().what(), message) << text;
    EXPECT_EQ(done.error().code(), Code::kInvalidInput);
  }
}

}  // namespace
}  // namespace ringward::replay
