// A made-up machine in a folder: files are rewritten between two samples a second apart.
#include "telemetry/host/host_sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/check.h"

namespace ringward::telemetry {
namespace {

using testing::DoubleNear;
using testing::Eq;
using testing::Optional;

constexpr std::int32_t kPid = 4711;

auto About(double value) { return Optional(DoubleNear(value, 1e-6 * (1.0 + value))); }

class Machine {
 public:
  Machine() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "ringward-host-XXXXXX").string();
    RINGWARD_CHECK(mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
  }
  ~Machine() { std::filesystem::remove_all(root_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  const std::string& root() const { return root_; }
  /// In place, as the kernel's files change.
  void Put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void PutProcess(std::int32_t pid, std::uint64_t user, std::uint64_t wait_ms) const {
    const std::string folder = "/proc/" + std::to_string(pid);
    Put(folder + "/stat", std::to_string(pid) + " (rank) R 1 1 1 0 -1 0 0 0 " +
                              std::to_string(user / 10) + " 0 " + std::to_string(user) +
                              " 0 0 0 20 0 2 0 1 1 256 1 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0\n");
    Put(folder + "/status",
        "voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t" + std::to_string(user) + "\n");
    Put(folder + "/io", "rchar: 1\nread_bytes: " + std::to_string(4096 * user) +
                            "\nwrite_bytes: " + std::to_string(user) + "\n");
    Put(folder + "/task/" + std::to_string(pid) + "/schedstat", "1 5 1\n");
    Put(folder + "/task/" + std::to_string(pid + 1) + "/schedstat",
        "1 " + std::to_string(wait_ms * 1'000'000) + " 1\n");
    Put(folder + "/cgroup", "0::/job/rank\n");
  }

 private:
  std::string root_;
};

/// The machine at second 0, and one second later.
void PutMachine(const Machine& machine, bool later) {
  machine.Put("/proc/stat", later ? "cpu  1 1 1 1 1 1 1 1\ncpu0 100 0 0 100 0 0 0 0\n"
                                    "cpu1 180 0 0 100 10 0 0 10\n"
                                  : "cpu  1 1 1 1 1 1 1 1\ncpu0 100 0 0 0 0 0 0 0\n"
                                    "cpu1 100 0 0 100 0 0 0 0\n");
  const std::string total = later ? "total=250000\n" : "total=0\n";
  for (const char* resource : {"cpu", "memory", "io"})
    machine.Put(std::string("/proc/pressure/") + resource, "some avg10=0.00 " + total);
  machine.Put("/proc/meminfo", "MemTotal: 9 kB\nMemAvailable: 1000 kB\n");
  machine.Put("/proc/vmstat", later ? "pswpin 3\npswpout 7\n" : "pswpin 1\npswpout 1\n");
  machine.Put("/proc/net/dev", later ? "eth0: 100 0 2 0 0 0 0 0 200 0 0 0 0 0 0 0\n"
                                     : "eth0: 50 0 0 0 0 0 0 0 50 0 0 0 0 0 0 0\n");
  machine.Put("/proc/net/snmp", std::string("Tcp: RetransSegs\nTcp: ") + (later ? "9\n" : "2\n"));
  machine.Put("/sys/class/hwmon/hwmon0/temp1_input", "41000\n");
  machine.Put("/sys/class/hwmon/hwmon1/temp2_input", "73500\n");
  machine.PutProcess(kPid, later ? 40 : 10, later ? 450 : 0);
}

TEST(HostSamplerTest, RatesOfASecond) {
  const Machine machine;
  PutMachine(machine, false);
  HostSampler sampler(machine.root());
  sampler.Follow(kPid);
  sampler.Follow(kPid);
  sampler.Sample(std::chrono::seconds(10));
  EXPECT_TRUE(sampler.host().cores.empty());
  EXPECT_EQ(sampler.Of(kPid).use.run_wait, std::nullopt);
  PutMachine(machine, true);
  sampler.Sample(std::chrono::seconds(11));

  const HostUse& host = sampler.host();
  ASSERT_EQ(host.cores.size(), 2U);
  EXPECT_DOUBLE_EQ(host.cores.at(0).busy, 0.0);
  EXPECT_DOUBLE_EQ(host.cores.at(1).busy, 0.8);
  EXPECT_DOUBLE_EQ(host.cores.at(1).iowait, 0.1);
  EXPECT_DOUBLE_EQ(host.cores.at(1).stolen, 0.1);
  EXPECT_THAT(host.cpu_pressure, About(0.25));
  EXPECT_THAT(host.memory_pressure, About(0.25));
  EXPECT_THAT(host.io_pressure, About(0.25));
  EXPECT_THAT(host.memory_available, About(1'024'000));
  EXPECT_THAT(host.swap_bytes, About(8.0 * static_cast<double>(sysconf(_SC_PAGESIZE))));
  EXPECT_THAT(host.network_bytes, About(200));
  EXPECT_THAT(host.network_errors, About(2));
  EXPECT_THAT(host.retransmits, About(7));
  EXPECT_THAT(host.temperature, About(73.5));
  EXPECT_TRUE(host.root_free);

  const ProcessSight sight = sampler.Of(kPid);
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const double cpu = 30.0 / ticks;
  EXPECT_THAT(sight.use.cpu, About(cpu));
  EXPECT_THAT(sight.use.run_wait, About(0.45));
  EXPECT_THAT(sight.use.preempted, About(30));
  EXPECT_THAT(sight.use.yielded, About(0));
  EXPECT_THAT(sight.use.major_faults, About(3));
  EXPECT_THAT(sight.use.io_bytes, About(30 * 4097));
  EXPECT_THAT(sight.use.rss_bytes, About(256.0 * static_cast<double>(sysconf(_SC_PAGESIZE))));
  EXPECT_THAT(sight.use.core, Optional(Eq(1U)));
  EXPECT_THAT(sight.core_others, About(0.8 - cpu));
  EXPECT_THAT(sight.core_stolen, About(0.1 * cpu / 0.8));
  EXPECT_THAT(sight.memory_left, About(1'024'000));
}

TEST(HostSamplerTest, TheNearestMemoryLimitCounts) {
  const struct {
    const char* title;
    const char* group;
    std::vector<std::pair<const char*, const char*>> files;
    double left;
  } rows[] = {
      {"none", "0::/job/rank\n", {{"/job/rank/memory.max", "max\n"}}, 1'024'000},
      {"version 2, files count as free",
       "0::/job/rank\n",
       {{"/job/rank/memory.max", "5000\n"},
        {"/job/rank/memory.current", "4000\n"},
        {"/job/rank/memory.stat", "anon 1\ninactive_file 1500\n"}},
       2500},
      {"the parent's is nearer",
       "0::/job/rank\n",
       {{"/job/rank/memory.max", "5000\n"},
        {"/job/rank/memory.current", "1000\n"},
        {"/job/memory.max", "3000\n"},
        {"/job/memory.current", "2900\n"}},
       100},
      {"over the limit",
       "0::/job\n",
       {{"/job/memory.max", "3000\n"}, {"/job/memory.current", "9000\n"}},
       0},
      {"version 1, path of the host that the container does not see",
       "4:memory:/docker/abc\n0::/\n",
       {{"/memory/memory.limit_in_bytes", "5000\n"},
        {"/memory/memory.usage_in_bytes", "4000\n"},
        {"/memory/memory.stat", "inactive_file 9\ntotal_inactive_file 500\n"}},
       1500},
      {"version 1, no limit",
       "4:memory:/\n",
       {{"/memory/memory.limit_in_bytes", "9223372036854771712\n"},
        {"/memory/memory.usage_in_bytes", "4000\n"}},
       1'024'000},
      {"nonsense", "4:memory:/\n", {{"/memory/memory.limit_in_bytes", "-1\n"}}, 1'024'000},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.title);
    const Machine machine;
    PutMachine(machine, false);
    machine.Put("/proc/4711/cgroup", row.group);
    for (const auto& [path, text] : row.files)
      machine.Put(std::string("/sys/fs/cgroup") + path, text);
    HostSampler sampler(machine.root());
    sampler.Follow(kPid);
    sampler.Sample(std::chrono::seconds(1));
    EXPECT_THAT(sampler.Of(kPid).memory_left, About(row.left));
  }
}

TEST(HostSamplerTest, AMachineThatTellsNothingIsNoTrouble) {
  const Machine machine;
  machine.Put("/proc/stat", "nonsense");
  HostSampler sampler(machine.root());
  sampler.Follow(kPid);
  for (int second = 0; second < 3; ++second) sampler.Sample(std::chrono::seconds(second));
  EXPECT_TRUE(sampler.host().cores.empty());
  EXPECT_EQ(sampler.host().temperature, std::nullopt);
  EXPECT_EQ(sampler.Of(kPid).use.rss_bytes, std::nullopt);
  EXPECT_EQ(sampler.Of(kPid).memory_left, std::nullopt);
  EXPECT_EQ(sampler.Of(1).use.rss_bytes, std::nullopt);
}

// Milliseconds and slices of a second, of a second thread; what the process waited then.
TEST(HostSamplerTest, WhoOnlyYieldsWaitsForNothing) {
  const struct {
    const char* title;
    int run, wait, slices;
    double told;
  } cases[] = {{"computes", 500, 400, 300, 0.4},
               {"is crowded off its core", 50, 900, 40, 0.9},
               {"yields on a busy core", 12, 980, 700, 0.0},
               {"yields on an idle one", 990, 5, 90'000, 0.005},
               {"does little, often", 30, 40, 900, 0.04}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.title);
    const Machine machine;
    PutMachine(machine, true);
    const std::string file =
        "/proc/" + std::to_string(kPid) + "/task/" + std::to_string(kPid + 1) + "/schedstat";
    machine.Put(file, "0 0 0\n");
    HostSampler sampler(machine.root());
    sampler.Follow(kPid);
    sampler.Sample(std::chrono::seconds(1));
    machine.Put(file, std::to_string(c.run) + "000000 " + std::to_string(c.wait) + "000000 " +
                          std::to_string(c.slices) + "\n");
    sampler.Sample(std::chrono::seconds(2));
    EXPECT_THAT(sampler.Of(kPid).use.run_wait, About(c.told));
  }
}

TEST(HostSamplerTest, CountsThatGoBackAreNoRates) {
  const Machine machine;
  PutMachine(machine, true);
  HostSampler sampler(machine.root());
  sampler.Follow(kPid);
  sampler.Sample(std::chrono::seconds(1));
  PutMachine(machine, false);
  sampler.Sample(std::chrono::seconds(2));
  EXPECT_THAT(sampler.Of(kPid).use.run_wait, About(0));  // of the thread that did not go back
  EXPECT_EQ(sampler.Of(kPid).use.cpu, std::nullopt);
  EXPECT_EQ(sampler.host().retransmits, std::nullopt);
  sampler.Sample(std::chrono::seconds(2));  // no time has passed
  EXPECT_EQ(sampler.Of(kPid).use.cpu, std::nullopt);
}

TEST(HostSamplerTest, ReadsThisMachine) {
  HostSampler sampler;
  sampler.Follow(getpid());
  sampler.Sample(std::chrono::seconds(1));
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 30'000'000; ++i) sum += i * sum + 1;
  sampler.Sample(std::chrono::seconds(2));
  EXPECT_NE(sum, 0U);
  EXPECT_GE(sampler.host().cores.size(), 1U);
  const ProcessSight sight = sampler.Of(getpid());
  EXPECT_GT(sight.use.rss_bytes.value_or(0.0), 0.0);
  EXPECT_GE(sight.use.cpu.value_or(-1.0), 0.0);
  EXPECT_GT(sight.memory_left.value_or(0.0), 0.0);
}

}  // namespace
}  // namespace ringward::telemetry
