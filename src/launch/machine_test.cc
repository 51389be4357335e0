// What the launcher asks the machine: cores, environment, and what it makes of the answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "launch/cores.h"
#include "launch/engine_choice.h"
#include "launch/environment.h"
#include "launch/job.h"
#include "launch/memory.h"
#include "launch/mpirun.h"
#include "launch/test_folder.h"

namespace ringward::launch {
namespace {

TEST(EngineChoiceTest, MpirunCannotRunFromADeletedFolder) {
  const Capabilities before = ProbeCapabilities();
  const auto home = std::filesystem::current_path();
  std::filesystem::current_path(TestFolder().path());  // deleted at the semicolon
  const Capabilities can = ProbeCapabilities();
  std::filesystem::current_path(home);
  EXPECT_EQ(can.mpirun, "");
  EXPECT_EQ(can.mpi_missing,
            before.mpirun.empty()
                ? before.mpi_missing
                : "mpirun cannot enter the working folder: No such file or directory");
}

struct QuotaCase {
  const char* name;
  std::vector<std::pair<std::string, std::string>> files;
  double quota;
};

class CgroupTest : public testing::TestWithParam<QuotaCase> {};

TEST_P(CgroupTest, FindsTheSmallestQuota) {
  const TestFolder root;
  for (const auto& [name, text] : GetParam().files) root.Write(name, text);
  EXPECT_DOUBLE_EQ(CgroupQuota(root.path()), GetParam().quota);
}

INSTANTIATE_TEST_SUITE_P(
    Roots, CgroupTest,
    testing::Values(QuotaCase{"nothing", {}, 0.0},
                    QuotaCase{"v2",
                              {{"/proc/self/cgroup", "0::/job\n"},
                               {"/sys/fs/cgroup/job/cpu.max", "250000 100000\n"}},
                              2.5},
                    QuotaCase{"v2_unlimited",
                              {{"/proc/self/cgroup", "0::/job\n"},
                               {"/sys/fs/cgroup/job/cpu.max", "max 100000\n"}},
                              0.0},
                    QuotaCase{"v2_parent_is_smaller",
                              {{"/proc/self/cgroup", "0::/a/b\n"},
                               {"/sys/fs/cgroup/a/cpu.max", "150000 100000\n"},
                               {"/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n"}},
                              1.5},
                    QuotaCase{"v2_container_sees_only_its_root",
                              {{"/proc/self/cgroup", "0::/docker/123\n"},
                               {"/sys/fs/cgroup/cpu.max", "50000 100000\n"}},
                              0.5},
                    QuotaCase{
                        "v2_nonsense",
                        {{"/proc/self/cgroup", "0::/\n"}, {"/sys/fs/cgroup/cpu.max", "many 0\n"}},
                        0.0},
                    QuotaCase{"v1",
                              {{"/proc/self/cgroup", "7:memory:/x\n3:cpuacct,cpu:/job\n"},
                               {"/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "300000\n"},
                               {"/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n"}},
                              3.0},
                    QuotaCase{"v1_joint_mount",
                              {{"/proc/self/cgroup", "3:cpu,cpuacct:/\n"},
                               {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "100000\n"},
                               {"/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "50000\n"}},
                              2.0},
                    QuotaCase{"v1_unlimited",
                              {{"/proc/self/cgroup", "1:cpu:/\n"},
                               {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
                               {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}},
                              0.0},
                    QuotaCase{"v1_cpuset_is_not_cpu",
                              {{"/proc/self/cgroup", "1:cpuset:/\n"},
                               {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "1000\n"},
                               {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "1000\n"}},
                              0.0},
                    QuotaCase{"torn_lines", {{"/proc/self/cgroup", "0\n1:cpu\n\n"}}, 0.0}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(MemoryTest, IsTheMachinesOrWhatACgroupLeaves) {
  using Files = std::vector<std::pair<std::string, std::string>>;
  const std::string meminfo = "MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable: 4000 kB\n";
  const struct {
    const char* name;
    Files files;
    std::uint64_t bytes;
  } kCases[] = {
      {"nothing is known", {}, std::numeric_limits<std::uint64_t>::max()},
      {"the machine", {{"/proc/meminfo", meminfo}}, 4'096'000},
      {"no limit",
       {{"/proc/meminfo", meminfo},
        {"/proc/self/cgroup", "0::/job\n"},
        {"/sys/fs/cgroup/job/memory.max", "max\n"},
        {"/sys/fs/cgroup/job/memory.current", "1000\n"}},
       4'096'000},
      {"a limit above, half used, a part of it by old file pages",
       {{"/proc/meminfo", meminfo},
        {"/proc/self/cgroup", "0::/pod/job\n"},
        {"/sys/fs/cgroup/pod/memory.max", "1000000\n"},
        {"/sys/fs/cgroup/pod/memory.current", "500000\n"},
        {"/sys/fs/cgroup/pod/memory.stat", "anon 1\ninactive_file 100000\n"}},
       600'000},
      {"version 1, nothing left",
       {{"/proc/meminfo", meminfo},
        {"/proc/self/cgroup", "4:memory:/job\n"},
        {"/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000\n"},
        {"/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "2000\n"}},
       1},
  };
  for (const auto& c : kCases) {
    const TestFolder root;
    for (const auto& [name, text] : c.files) root.Write(name, text);
    EXPECT_EQ(AvailableMemory(root.path()), c.bytes) << c.name;
  }
}

TEST(MemoryTest, SaysWhoNeedsHowMuch) {
  constexpr double kGiB = 1U << 30U;
  EXPECT_TRUE(CheckMemory(4, kGiB, std::uint64_t{4} << 30U, "x"));
  const Status refused = CheckMemory(4, 1.5 * kGiB, std::uint64_t{5} << 30U, "buffers");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::kResource);
  EXPECT_EQ(refused.error().what(),
            "4 ranks need 6 GiB of memory for buffers, 5 GiB are available");
}

TEST(CoresTest, CountsWhatElseWantsToRun) {
  const TestFolder root;
  root.Write("/proc/stat", "cpu  1 2 3\ncpu0 1 2 3\ncpu1 1 2 3\nintr 5\nprocs_running 4\n");
  const Cores cores = UsableCores(root.path());
  EXPECT_EQ(cores.online, 2);
  EXPECT_EQ(cores.busy, 3) << "the reader itself is the fourth";
  EXPECT_FALSE((Cores{4, 4, 0.0, 4, 3}).Fit(2));
  EXPECT_TRUE((Cores{4, 4, 0.0, 4, 3}).Fit(1));
  EXPECT_FALSE((Cores{1, 4, 0.0, 4, 0}).Fit(2));
}

TEST(StartTimeoutTest, GrowsWithRanksACore) {
  const struct {
    int ranks;
    int cores;
    std::chrono::seconds limit;
  } kCases[] = {{1, 1, std::chrono::seconds(60)},
                {16, 2, std::chrono::seconds(60)},
                {200, 2, std::chrono::seconds(750)},
                {200, 64, std::chrono::seconds(60)},
                {1024, 1, std::chrono::seconds(7680)}};
  for (const auto& c : kCases) {
    EXPECT_EQ(StartTimeout(c.ranks, {.usable = c.cores}), c.limit) << c.ranks << " " << c.cores;
  }
}

TEST(CoresTest, AQuotaBelowOneCoreStillGivesOne) {
  const TestFolder root;
  root.Write("/proc/self/cgroup", "0::/\n");
  root.Write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  const Cores cores = UsableCores(root.path());
  EXPECT_EQ(cores.usable, 1);
  EXPECT_GE(cores.affinity, 1);
  EXPECT_EQ(cores.Describe(), "1 usable core (of " + std::to_string(cores.affinity) +
                                  " allowed; the cgroup grants 0.5)");
  EXPECT_EQ((Cores{8, 8, 0.0}).Describe(), "8 usable cores");
}

Capabilities Machine(bool mpirun, bool gloo, int cores) {
  Capabilities can;
  if (mpirun) can.mpirun = "/usr/bin/mpirun";
  can.gloo = gloo;
  can.cores = {cores, cores, 0.0};
  return can;
}

Capabilities WithPorts(Capabilities can, int ports) {
  can.ports = ports;
  return can;
}

Capabilities Busy(Capabilities can, int tasks) {
  can.cores.online = can.cores.usable;
  can.cores.busy = tasks;
  return can;
}

struct ChoiceCase {
  const char* requested;
  int ranks;
  Capabilities can;
  const char* engine;  ///< "" = an error
  bool yield;
  const char* why;  ///< the sentence, or the error
};

TEST(EngineChoiceTest, ChoosesAndSaysWhy) {
  const std::vector<ChoiceCase> cases = {
      {"auto", 1, Machine(true, true, 2), "local", false,
       "engine local: one rank needs no communication; 2 usable cores"},
      {"auto", 2, Machine(true, true, 2), "mpi", false,
       "engine mpi: lowest latency for a fixed number of ranks; 2 ranks on 2 usable cores: waiting "
       "ranks spin, no binding"},
      {"auto", 3, Machine(true, true, 2), "mpi", true,
       "engine mpi: lowest latency for a fixed number of ranks; 3 ranks on 2 usable cores, more "
       "ranks than cores: waiting ranks yield, no binding"},
      {"auto", 2, Busy(Machine(true, true, 4), 2), "mpi", false,
       "engine mpi: lowest latency for a fixed number of ranks; 2 ranks on 4 usable cores: waiting "
       "ranks spin, no binding"},
      {"auto", 2, Busy(Machine(true, true, 4), 3), "mpi", true,
       "engine mpi: lowest latency for a fixed number of ranks; 2 ranks on 4 usable cores, 3 other "
       "tasks want to run: waiting ranks yield, no binding"},
      {"auto", 2, Machine(false, true, 8), "gloo", false,
       "engine gloo: mpirun was not found; 2 ranks on 8 usable cores: waiting ranks sleep, no "
       "binding"},
      {"auto", 2, Machine(false, false, 8), "", false,
       "no engine can run 2 ranks: mpirun was not found, and this build has no gloo engine"},
      {"mpi", 1, Machine(true, true, 1), "mpi", false,
       "engine mpi: asked for; 1 rank on 1 usable core: waiting ranks spin, no binding"},
      {"mpi", 2, Machine(false, true, 1), "", false,
       "--engine mpi cannot run here: mpirun was not found"},
      {"gloo", 2, Machine(true, false, 1), "", false,
       "--engine gloo: this build has no gloo engine"},
      {"gloo", 168, WithPorts(Machine(true, true, 2), 28'232), "gloo", false,
       "engine gloo: asked for; 168 ranks on 2 usable cores: waiting ranks sleep, no binding"},
      {"gloo", 200, WithPorts(Machine(true, true, 2), 28'232), "", false,
       "engine gloo: 200 ranks take 39800 ports for one another, of 28232 there are "
       "(net.ipv4.ip_local_port_range): at most 168 ranks; engine mpi takes none"},
      {"local", 2, Machine(true, true, 1), "", false, "--engine local runs one rank, not 2"},
      {"nccl", 2, Machine(true, true, 1), "", false,
       "--engine: 'nccl' is not one of auto, mpi, gloo, local"},
      {"auto", 0, Machine(true, true, 1), "", false, "-np: 0 is not in 1 to 4096"},
  };
  for (const ChoiceCase& c : cases) {
    SCOPED_TRACE(std::string(c.requested) + " " + std::to_string(c.ranks));
    const auto choice = ChooseEngine(c.requested, c.ranks, c.can);
    ASSERT_EQ(static_cast<bool>(choice), *c.engine != '\0');
    EXPECT_EQ(choice ? choice->why : choice.error().what(), c.why);
    if (!choice) continue;
    EXPECT_EQ(choice->engine, c.engine);
    EXPECT_EQ(choice->yield, c.yield);
  }
}

TEST(MpirunTest, ArgumentsKeepEverythingInTheJobsFolder) {
  const auto arguments = MpirunArguments({.mpirun = "/bin/mpirun", .ranks = 3, .folder = "/f"});
  const auto has = [&](const std::string& name, const std::string& value) {
    for (std::size_t i = 0; i + 2 < arguments.size(); ++i) {
      if (arguments[i] == "--mca" && arguments[i + 1] == name) return arguments[i + 2] == value;
    }
    return false;
  };
  EXPECT_EQ(arguments.front(), "/bin/mpirun");
  EXPECT_TRUE(has("orte_tmpdir_base", "/f"));
  EXPECT_TRUE(has("btl_vader_backing_directory", "/f"));
  EXPECT_TRUE(has("mpi_yield_when_idle", "0"));
  EXPECT_TRUE(has("opal_signal", "")) << "no stack traces of Open MPI's own";
  EXPECT_FALSE(has("btl_vader_single_copy_mechanism", "none"));
  const auto count = [](const std::vector<std::string>& words, const std::string& word) {
    return std::count(words.begin(), words.end(), word);
  };
  EXPECT_EQ(count(arguments, "--allow-run-as-root"), 0);
  const auto root = MpirunArguments({.mpirun = "m",
                                     .ranks = 1,
                                     .folder = "/f",
                                     .yield = true,
                                     .root = true,
                                     .single_copy = false});
  EXPECT_EQ(count(root, "--allow-run-as-root"), 1);
  EXPECT_EQ(count(root, "none"), 2) << "no binding, no single copy";
}

TEST(MpirunTest, AnOuterLauncherIsForgottenAndUserSettingsStay) {
  Environment environment = {{"OMPI_COMM_WORLD_RANK", "3"},
                             {"OMPI_MCA_orte_ess_jobid", "1"},
                             {"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
                             {"PMIX_RANK", "3"},
                             {"SLURM_JOB_ID", "7"},
                             {"RINGWARD_RANK", "3"},
                             {"RINGWARD_JOB_ID", "7"},
                             {"RINGWARD_JOB", "mine"},
                             {"RINGWARD_NCCL", "0"},
                             {"RINGWARD_GUEST_LIBRARY", "/l.so"},
                             {"PATH", "/bin"}};
  ForgetOuterLauncher(environment);
  EXPECT_EQ(environment, (Environment{{"OMPI_MCA_coll_tuned_use_dynamic_rules", "1"},
                                      {"PATH", "/bin"},
                                      {"RINGWARD_JOB", "mine"},
                                      {"RINGWARD_NCCL", "0"},
                                      {"RINGWARD_GUEST_LIBRARY", "/l.so"}}));
}

/// Sets variables and restores what was there.
class Variables {
 public:
  explicit Variables(const Environment& set) : before_(CurrentEnvironment()) {
    for (const auto& [name, value] : set) {
      names_.push_back(name);
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
  ~Variables() {
    for (const std::string& name : names_) {
      const auto old = before_.find(name);
      if (old == before_.end()) {
        unsetenv(name.c_str());
      } else {
        setenv(name.c_str(), old->second.c_str(), 1);
      }
    }
  }

 private:
  Environment before_;
  std::vector<std::string> names_;
};

TEST(RankEnvironmentTest, ReadsWhatTheLauncherSets) {
  const Variables set({{"RINGWARD_RANK", "2"},
                       {"RINGWARD_WORLD_SIZE", "4"},
                       {"RINGWARD_ENGINE", "gloo"},
                       {"RINGWARD_JOB_DIR", "/f"},
                       {"RINGWARD_STORE", "127.0.0.1:99"},
                       {"RINGWARD_COLLECTIVE_TIMEOUT_MS", "5000"}});
  const auto rank = RankEnvironment::Read();
  ASSERT_TRUE(rank) << rank.error().what();
  EXPECT_EQ(rank->rank, 2);
  EXPECT_EQ(rank->world_size, 4);
  EXPECT_EQ(rank->local_rank, 2);
  EXPECT_EQ(rank->engine, "gloo");
  EXPECT_EQ(rank->store, "127.0.0.1:99");
  EXPECT_EQ(rank->BoardPath(), "/f/board");
  EXPECT_EQ(rank->collective_timeout, std::chrono::seconds(5));
}

TEST(RankEnvironmentTest, NamesTheBadVariable) {
  const std::vector<std::pair<Environment, std::string>> cases = {
      {{{"RINGWARD_RANK", "4"}, {"RINGWARD_WORLD_SIZE", "4"}},
       "RINGWARD_RANK=4: not a number from 0 to 3"},
      {{{"RINGWARD_WORLD_SIZE", "two"}},
       "RINGWARD_WORLD_SIZE=two: not a number from 1 to 2147483647"},
      {{{"RINGWARD_THREADS", ""}}, "RINGWARD_THREADS=: not a number from 1 to 2147483647"},
  };
  for (const auto& [variables, what] : cases) {
    const Variables set(variables);
    const auto rank = RankEnvironment::Read();
    ASSERT_FALSE(rank) << what;
    EXPECT_EQ(rank.error().what(), what);
  }
}

}  // namespace
}  // namespace ringward::launch
