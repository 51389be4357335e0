// Against a library that plays NVIDIA's (fake_nvml.cc).
#include "telemetry/host/gpu_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/check.h"
#include "telemetry/host/host_sampler.h"

namespace ringward::telemetry {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::Eq;
using testing::Optional;

constexpr std::chrono::milliseconds kLong{20'000};
constexpr const char* kTwoGpus =
    "gpus 2\n"
    "0.busy 97\n0.used 3000\n0.total 8000\n0.celsius 91\n0.milliwatts 249500\n"
    "0.sm_megahertz 705\n0.throttle 68\n0.ecc 2\n0.pid 4711\n0.pid2 4712\n"
    "1.busy 50\n1.celsius 60\n1.throttle 1\n1.pid 4712\n";

/// What the driver answers.
class Driver {
 public:
  Driver() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ringward-gpu-XXXXXX").string();
    RINGWARD_CHECK(mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    setenv("RINGWARD_FAKE_NVML", (folder_ + "/answers").c_str(), 1);
  }
  ~Driver() {
    Say("");  // who hangs still may go
    std::filesystem::remove_all(folder_);
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  void Say(const std::string& text) const {
    std::ofstream(folder_ + "/new") << text;
    std::filesystem::rename(folder_ + "/new", folder_ + "/answers");
  }

 private:
  std::string folder_;
};

/// Asks and waits for the answer.
void AskTwice(GpuWatch& watch, seconds at) {
  watch.Ask(at);
  ASSERT_TRUE(watch.Settle(kLong));
  watch.Ask(at + seconds(1));
  ASSERT_TRUE(watch.Settle(kLong));
}

TEST(GpuWatchTest, TellsWhatEachGpuDoes) {
  const Driver driver;
  driver.Say(kTwoGpus);
  GpuWatch watch(RINGWARD_FAKE_NVML);
  EXPECT_TRUE(watch.gpus().empty());
  AskTwice(watch, seconds(1));
  ASSERT_EQ(watch.gpus().size(), 2U);
  const GpuState& first = watch.gpus()[0];
  EXPECT_EQ(first.index, 0U);
  EXPECT_THAT(first.busy, Optional(0.97));
  EXPECT_THAT(first.memory, Optional(3000.0));
  EXPECT_THAT(first.memory_all, Optional(8000.0));
  EXPECT_THAT(first.celsius, Optional(91.0));
  EXPECT_THAT(first.watts, Optional(249.5));
  EXPECT_THAT(first.sm_hertz, Optional(705e6));
  EXPECT_THAT(first.throttle, Optional(Eq(68U)));
  EXPECT_THAT(first.ecc_fatal, Optional(Eq(2U)));
  EXPECT_THAT(first.pids, ElementsAre(4711, 4712));
  const GpuState& second = watch.gpus()[1];
  EXPECT_EQ(second.index, 1U);
  EXPECT_EQ(second.memory, std::nullopt);  // what it does not tell
  EXPECT_EQ(second.ecc_fatal, std::nullopt);
  EXPECT_THAT(second.pids, ElementsAre(4712));
}

TEST(GpuWatchTest, AnOldLibraryTellsWhatItHas) {
  const Driver driver;
  driver.Say(kTwoGpus);
  GpuWatch watch(RINGWARD_FAKE_NVML_OLD);
  AskTwice(watch, seconds(1));
  ASSERT_EQ(watch.gpus().size(), 2U);
  EXPECT_THAT(watch.gpus()[0].celsius, Optional(91.0));
  EXPECT_THAT(watch.gpus()[0].pids, ElementsAre(4711, 4712));
  EXPECT_EQ(watch.gpus()[0].throttle, std::nullopt);
  EXPECT_EQ(watch.gpus()[0].ecc_fatal, std::nullopt);
}

struct SilentRow {
  const char* title;
  std::string library;
  const char* answers;
  const char* said;  ///< in the log; empty: nothing
};

TEST(GpuWatchTest, WhereThereIsNothingToTell) {
  const SilentRow rows[] = {
      {"no library wanted", "", kTwoGpus, ""},
      {"no library there", "libringward-no-such-library.so.1", kTwoGpus, ""},
      {"another library", "libm.so.6", kTwoGpus, "libm.so.6 is not NVML"},
      {"no driver", RINGWARD_FAKE_NVML, "init 9\ngpus 1\n", ""},
      {"no GPU", RINGWARD_FAKE_NVML, "gpus 0\n", ""},
      {"library and driver differ", RINGWARD_FAKE_NVML, "init 18\ngpus 1\n", "its error 18"},
      {"all are lost", RINGWARD_FAKE_NVML, "gpus 1\n0.lost 1\n0.celsius 50\n", ""},
  };
  for (const SilentRow& row : rows) {
    SCOPED_TRACE(row.title);
    const Driver driver;
    driver.Say(row.answers);
    testing::internal::CaptureStderr();
    GpuWatch watch(row.library);
    AskTwice(watch, seconds(1));
    AskTwice(watch, seconds(3));
    EXPECT_TRUE(watch.gpus().empty());
    EXPECT_FALSE(watch.hangs());
    const std::string said = testing::internal::GetCapturedStderr();
    if (*row.said == '\0') {
      EXPECT_EQ(said, "");
    } else {
      const std::size_t first = said.find(row.said);
      EXPECT_NE(first, std::string::npos) << said;
      EXPECT_EQ(said.find(row.said, first + 1), std::string::npos) << said;
    }
  }
}

TEST(GpuWatchTest, ADriverThatHangsIsMissedAfterADeadlineAndSaidOnce) {
  const Driver driver;
  driver.Say(kTwoGpus);
  testing::internal::CaptureStderr();
  {
    GpuWatch watch(RINGWARD_FAKE_NVML, seconds(5));
    AskTwice(watch, seconds(1));
    driver.Say(std::string(kTwoGpus) + "hang 1\n");
    watch.Ask(seconds(10));  // it does not answer this one
    watch.Ask(seconds(15));
    EXPECT_FALSE(watch.hangs());
    EXPECT_EQ(watch.gpus().size(), 2U);
    for (const int at : {16, 17, 100}) {
      watch.Ask(seconds(at));
      EXPECT_TRUE(watch.hangs());
      EXPECT_TRUE(watch.gpus().empty());
    }
    driver.Say(kTwoGpus);
    ASSERT_TRUE(watch.Settle(kLong));
    watch.Ask(seconds(101));
    EXPECT_FALSE(watch.hangs());
    EXPECT_EQ(watch.gpus().size(), 2U);
    ASSERT_TRUE(watch.Settle(kLong));
    driver.Say("hang 1\n");
    watch.Ask(seconds(102));
    watch.Ask(seconds(200));
    EXPECT_TRUE(watch.hangs());
  }  // nor does its end wait for it
  const std::string said = testing::internal::GetCapturedStderr();
  const std::size_t first = said.find("does not answer");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(said.find("does not answer", first + 1), std::string::npos) << said;
}

TEST(GpuWatchTest, ASamplerTellsAProcessOfItsGpus) {
  const Driver driver;
  driver.Say(kTwoGpus);
  HostSampler sampler("", RINGWARD_FAKE_NVML);
  for (const std::int32_t pid : {4711, 4712, 4713}) sampler.Follow(pid);
  for (const int at : {1, 2}) {
    sampler.Sample(seconds(at));
    ASSERT_TRUE(sampler.gpus().Settle(kLong));
  }
  ASSERT_TRUE(sampler.Of(4711).gpu);
  EXPECT_THAT(sampler.Of(4711).gpu->celsius, Optional(91.0));
  ASSERT_TRUE(sampler.Of(4712).gpu);  // on both
  EXPECT_THAT(sampler.Of(4712).gpu->celsius, Optional(91.0));
  EXPECT_THAT(sampler.Of(4712).gpu->busy, Optional(testing::DoubleEq(0.735)));
  EXPECT_THAT(sampler.Of(4712).gpu->throttle, Optional(Eq(69U)));
  EXPECT_EQ(sampler.Of(4712).gpu->ecc_fatal, std::nullopt);
  EXPECT_FALSE(sampler.Of(4713).gpu);
}

}  // namespace
}  // namespace ringward::telemetry
