// Texts of the kernel and what they say: add a row. Hostile texts have rows too.
#include "telemetry/host/host_files.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringward::telemetry {
namespace {

using Number = std::optional<std::uint64_t>;

TEST(HostFilesTest, NumbersBehindKeys) {
  const struct {
    const char* text;
    const char* key;
    Number number;
  } rows[] = {
      {"MemTotal:  10 kB\nMemAvailable:   7 kB\n", "MemAvailable:", 7},
      {"pswpin 3\npswpout 4\n", "pswpout", 4},
      {"pswpin_other 3\npswpin 5", "pswpin", 5},
      {"voluntary_ctxt_switches:\t8\nnonvoluntary_ctxt_switches:\t9\n",
       "nonvoluntary_ctxt_switches:", 9},
      {"read_bytes: 18446744073709551615\n", "read_bytes:", UINT64_MAX},
      {"read_bytes: 18446744073709551616\n", "read_bytes:", std::nullopt},
      {"MemAvailable: -7 kB\n", "MemAvailable:", std::nullopt},
      {"MemAvailable:", "MemAvailable:", std::nullopt},
      {"MemAvailable:x7\n", "MemAvailable:", std::nullopt},
      {"", "MemAvailable:", std::nullopt},
      {"a 1\n", "", std::nullopt},
  };
  for (const auto& row : rows) EXPECT_EQ(NumberOf(row.text, row.key), row.number) << row.text;
  EXPECT_EQ(LeadingNumber("9223372036854771712\n"), Number(9223372036854771712U));
  EXPECT_EQ(LeadingNumber("max\n"), std::nullopt);
  EXPECT_EQ(LeadingNumber(""), std::nullopt);
}

TEST(HostFilesTest, Cores) {
  const auto cores = ParseCores(
      "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 10 2 3 400 50 6 7 80 9 9\ncpu3 1 0 0 5 0 0 0 0 0 0\n"
      "intr 5 cpu1 1 1\ncpu4 1 1 1 1 1 1 1 1\n");
  ASSERT_EQ(cores.size(), 2U);
  EXPECT_EQ(cores[0].core, 0U);
  EXPECT_EQ(cores[0].busy, 28U);
  EXPECT_EQ(cores[0].idle, 400U);
  EXPECT_EQ(cores[0].iowait, 50U);
  EXPECT_EQ(cores[0].steal, 80U);
  EXPECT_EQ(cores[1].core, 3U);
  for (const char* hostile : {"", "cpu", "cpu0", "cpu0 1 2 3", "cpu0 1 2 3 4 5 6 7",
                              "cpu99999999999999999999 1 1 1 1 1 1 1 1", "cpu70000 1 1 1 1 1 1 1 1",
                              "cpux 1 1 1 1 1 1 1 1", "\ncpu0 1 1 1 1 1 1 1 1"}) {
    EXPECT_TRUE(ParseCores(hostile).empty()) << hostile;
  }
}

constexpr const char* kProcess =
    " R 1 2 2 0 -1 4194304 100 0 12 0 500 70 0 0 20 0 3 0 99999 1000000 256 18446744073709551615 1 "
    "1 "
    "0 0 0 0 0 0 0 0 0 0 17 5 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

TEST(HostFilesTest, Processes) {
  for (const char* name :
       {"4711 (train)", "4711 (a) b (c)", "4711 (two\nlines)", "1 (R 1 2 2 0)"}) {
    const auto process = ParseProcess(std::string(name) + kProcess);
    ASSERT_TRUE(process) << name;
    EXPECT_EQ(process->major_faults, 12U);
    EXPECT_EQ(process->cpu_ticks, 570U);
    EXPECT_EQ(process->threads, 3U);
    EXPECT_EQ(process->rss_pages, 256U);
    EXPECT_EQ(process->core, 5U);
  }
  const std::string whole = std::string("4711 (train)") + kProcess;
  for (std::size_t cut = 0; cut < whole.find(" 5 0 0 0"); ++cut)
    EXPECT_FALSE(ParseProcess(whole.substr(0, cut))) << cut;
  EXPECT_FALSE(ParseProcess("4711 train"));
  EXPECT_FALSE(
      ParseProcess(") x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x"));
}

TEST(HostFilesTest, TimesOfThreads) {
  const auto times = ParseSchedstat("123 456 7\n");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->run, 123U);
  EXPECT_EQ(times->wait, 456U);
  for (const char* hostile : {"", "1", "1 2", "1 x 3", "-1 2 3", "\n1 2 3"})
    EXPECT_FALSE(ParseSchedstat(hostile)) << hostile;
}

TEST(HostFilesTest, Pressure) {
  const struct {
    const char* text;
    Number total;
  } rows[] = {
      {"some avg10=0.00 avg60=1.00 avg300=0.50 total=1234\nfull avg10=0 total=9\n", 1234},
      {"full avg10=0.00 total=9\nsome total=7\n", 7},
      {"full avg10=0.00 total=9\n", std::nullopt},
      {"some avg10=0.00 total=\n", std::nullopt},
      {"some", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& row : rows) EXPECT_EQ(ParsePressure(row.text), row.total) << row.text;
}

TEST(HostFilesTest, Links) {
  const auto links = ParseLinks(
      "Inter-|   Receive  |  Transmit\n face |bytes packets errs drop fifo frame compressed|bytes\n"
      "    lo: 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9\n"
      "  eth0: 100 1 2 3 0 0 0 0 200 1 4 5 0 0 0 0\n"
      "eth1:1000 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
  ASSERT_TRUE(links);
  EXPECT_EQ(links->bytes, 1300U);
  EXPECT_EQ(links->errors, 14U);
  for (const char* hostile : {"", "eth0:", "eth0: 1 2 3", ":::::", "eth0 1 2 3 4 5 6 7 8 9"})
    EXPECT_FALSE(ParseLinks(hostile)) << hostile;
}

TEST(HostFilesTest, Retransmits) {
  const struct {
    const char* text;
    Number number;
  } rows[] = {
      {"Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm MaxConn RetransSegs OutRsts\nTcp: 1 -1 42 3\n",
       42},
      {"Tcp: RtoAlgorithm RetransSegs\nTcp: 1\n", std::nullopt},
      {"Tcp: RetransSegs\n", std::nullopt},
      {"Tcp: OutRsts\nTcp: 5\n", std::nullopt},
      {"Tcp:\nTcp:\n", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& row : rows) EXPECT_EQ(ParseRetransmits(row.text), row.number) << row.text;
}

TEST(HostFilesTest, ControlGroups) {
  const struct {
    const char* text;
    const char* unified;
    const char* memory;
  } rows[] = {
      {"0::/user.slice/job.scope\n", "/user.slice/job.scope", ""},
      {"4:memory:/a:b\n3:cpu,cpuacct:/c\n0::/\n", "/", "/a:b"},
      {"5:hugetlb,memory:/x\n", "", "/x"},
      {"0::/../../other\n", "/", ""},
      {"4:memory:relative\n", "", "/"},
      {"4:memoryless:/x\n:::\n0:\n", "", ""},
      {"", "", ""},
  };
  for (const auto& row : rows) {
    const CgroupPaths paths = ParseCgroups(row.text);
    EXPECT_EQ(paths.unified, row.unified) << row.text;
    EXPECT_EQ(paths.memory_v1, row.memory) << row.text;
  }
}

TEST(HostFilesTest, FileSystems) {
  constexpr const char* kMounts =
      "1 0 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n"
      "2 1 0:5 / /srv rw - nfs4 server:/srv rw\n"
      "3 1 0:6 / /srv/fast rw a:1 b:2 - xfs /dev/sdb rw\n"
      "4 1 0:7 / /srv/fast rw - tmpfs tmpfs rw\n"
      "torn 1 0:7 / /srv/fast/deep rw\n\n- - - - -\n";
  const std::pair<const char*, const char*> rows[] = {
      {"/", "ext4"},       {"/srvbase", "ext4"},          {"/srv", "nfs4"},
      {"/srv/me", "nfs4"}, {"/srv/fast/deep/x", "tmpfs"}, {"relative", ""},
  };
  for (const auto& [path, kind] : rows) EXPECT_EQ(FileSystemOf(kMounts, path), kind) << path;
  EXPECT_EQ(FileSystemOf("", "/"), "");
}

}  // namespace
}  // namespace ringward::telemetry
