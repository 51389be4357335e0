#include "replay/recorded.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "recording/reader.h"

namespace ringward::replay {
namespace {

class RecordedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(::testing::TempDir()) /
        ("ringward-recorded-" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) +
         "-" + ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string File(const char* name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

JobOptions SlowJob() {
  JobOptions options{.world = 16, .steps = 300, .seed = 5};
  options.faults = {
      {.kind = FaultKind::kSlowRank, .onset = 150, .length = 100, .severity = 1.0, .ranks = {6}}};
  return options;
}

std::string Text(const signal::Finding& finding) {
  return std::to_string(finding.id) + NameOf(finding.kind) + std::to_string(finding.step) +
         finding.evidence + std::to_string(finding.effect) + (finding.over ? "over" : "");
}

TEST_F(RecordedTest, AReplayFindsWhatWasFoundLive) {
  const JobOptions options = SlowJob();
  std::vector<signal::Event> events;
  ASSERT_TRUE(SimulateJob(options, [&](const signal::Event& event) -> Status {
    events.push_back(event);
    return Ok();
  }));
  const Replayed live = ReplayEvents(events, {});
  ASSERT_TRUE(RecordSimulation(options, File("run.rwrec")));
  auto reader = recording::Reader::Open(File("run.rwrec"));
  ASSERT_TRUE(reader) << reader.error().what();
  const auto replayed = ReplayRecording(*reader, {});
  ASSERT_TRUE(replayed) << replayed.error().what();
  ASSERT_FALSE(live.findings.empty());
  ASSERT_EQ(replayed->findings.size(), live.findings.size());
  for (std::size_t i = 0; i < live.findings.size(); ++i) {
    EXPECT_EQ(Text(replayed->findings[i]), Text(live.findings[i]));
  }
  ASSERT_EQ(live.causes.size(), 1U);
  EXPECT_EQ(live.causes[0].culprit_ranks, std::vector<std::int32_t>{6});
}

TEST_F(RecordedTest, RefusesAJobThatCannotBe) {
  JobOptions options = SlowJob();
  options.stages = 5;
  const Status done = RecordSimulation(options, File("never.rwrec"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), Code::kInvalidInput);
}

}  // namespace
}  // namespace ringward::replay
