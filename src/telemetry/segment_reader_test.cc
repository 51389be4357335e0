// What a reader sees of a writer, and of everything else a file may hold.
#include "telemetry/segment_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "telemetry/segment_folder.h"
#include "telemetry/test_folder.h"

namespace ringward::telemetry {
namespace {

/// Overwrites bytes of a segment in place.
template <typename Value>
void Patch(const std::string& path, std::size_t at, const Value& value) {
  const Fd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(fd);
  ASSERT_EQ(pwrite(fd.get(), &value, sizeof(value), static_cast<off_t>(at)),
            static_cast<ssize_t>(sizeof(value)));
}

class SegmentReaderTest : public testing::Test {
 protected:
  SegmentReader OpenReader() {
    auto reader = SegmentReader::Open(recorder_->path());
    RINGWARD_CHECK(reader);
    return *std::move(reader);
  }
  TestFolder folder_;
  TestRecorder recorder_{folder_.options(2, 4)};
};

TEST_F(SegmentReaderTest, TellsWhoWrites) {
  const SegmentReader reader = OpenReader();
  EXPECT_EQ(reader.info().job, "job");
  EXPECT_EQ(reader.info().rank, 2);
  EXPECT_EQ(reader.info().world, 4);
  EXPECT_EQ(reader.info().pid, getpid());
  EXPECT_GT(reader.info().start_time, 0U);
  EXPECT_GT(reader.info().opened_wall.count(), reader.info().opened.count());
}

TEST_F(SegmentReaderTest, SegmentsArePrivateAndSmall) {
  struct stat info {};
  ASSERT_EQ(stat(recorder_->path(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_LE(info.st_size, 1 << 20);
  EXPECT_GE(info.st_blocks * 512, info.st_size) << "not reserved";
}

TEST_F(SegmentReaderTest, SeesStateAndRecords) {
  SegmentReader reader = OpenReader();
  const std::int32_t mine = recorder_->RegisterMetric("mine");
  const std::int32_t op = recorder_->RegisterOperation("allreduce");
  recorder_->BeginStep(5);
  recorder_->EnterPhase(static_cast<std::uint32_t>(Phase::kCommunicate));
  recorder_->RecordMetric(mine, 1.5);
  recorder_->EnterCollective(op, 77, 4'096, false);
  const auto state = reader.State();
  ASSERT_TRUE(state);
  EXPECT_TRUE(state->consistent);
  EXPECT_TRUE(state->in_step);
  EXPECT_EQ(state->step, 5U);
  EXPECT_EQ(state->phase, Phase::kCommunicate);
  EXPECT_TRUE(state->inside_collective);
  EXPECT_EQ(state->collective_number, 77U);
  EXPECT_EQ(state->operation, "allreduce");
  EXPECT_EQ(state->collective_bytes, 4'096U);
  recorder_->ExitCollective(77, true);
  recorder_->EndStep();
  auto batch = reader.Read();
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->steps.size(), 1U);
  EXPECT_EQ(batch->steps[0].collectives, 1U);
  EXPECT_EQ(batch->steps[0].wait_ns[4], batch->collectives[0].inside_ns);
  ASSERT_EQ(batch->metrics.size(), 1U);
  EXPECT_EQ(reader.MetricName(batch->metrics[0].metric), "mine");
  EXPECT_EQ(batch->metrics[0].last, 1.5);
  EXPECT_EQ(batch->overwritten + batch->malformed, 0U);
  batch = reader.Read();
  ASSERT_TRUE(batch);
  EXPECT_TRUE(batch->steps.empty() && batch->metrics.empty() && batch->collectives.empty());
}

TEST_F(SegmentReaderTest, WaitingBetweenStepsBelongsToNone) {
  const std::int32_t op = recorder_->RegisterOperation("barrier");
  recorder_->EnterCollective(op, 0, 0, false);
  recorder_->ExitCollective(0, true);
  recorder_->AddWait(3, 1'000);
  recorder_->BeginStep(0);
  recorder_->AddWait(3, 7);
  recorder_->EndStep();
  SegmentReader reader = OpenReader();
  const auto batch = reader.Read();
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->steps.size(), 1U);
  for (std::size_t i = 0; i < kPhases; ++i) EXPECT_EQ(batch->steps[0].wait_ns[i], i == 3 ? 7U : 0U);
}

TEST_F(SegmentReaderTest, KeepsUpAcrossTheEndOfTheRing) {
  SegmentReader reader = OpenReader();
  double expected = 0;
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 1'000; ++i) recorder_->RecordMetric(kLocalLoss, round * 1'000 + i);
    const auto batch = reader.Read();
    ASSERT_TRUE(batch);
    ASSERT_EQ(batch->metrics.size(), 1'000U);
    EXPECT_EQ(batch->overwritten + batch->malformed, 0U);
    for (const MetricRecord& r : batch->metrics) ASSERT_EQ(r.last, expected++);
  }
}

TEST_F(SegmentReaderTest, ASlowReaderCountsWhatItLost) {
  SegmentReader reader = OpenReader();
  constexpr std::uint64_t kWritten = 10'000;
  for (std::uint64_t i = 0; i < kWritten; ++i) {
    recorder_->RecordMetric(kLocalLoss, static_cast<double>(i));
  }
  const auto batch = reader.Read();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->metrics.size(), kMetricCapacity - 1);
  EXPECT_EQ(batch->metrics.size() + batch->overwritten, kWritten);
  EXPECT_EQ(batch->metrics.back().last, static_cast<double>(kWritten - 1));
}

TEST_F(SegmentReaderTest, ATornRecordIsCountedAndNotGiven) {
  SegmentReader reader = OpenReader();
  for (int i = 0; i < 3; ++i) recorder_->RecordMetric(kLocalLoss, i);
  Patch(recorder_->path(), kMetricsAt + sizeof(MetricRecord), std::uint64_t{0});
  const auto batch = reader.Read();
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->metrics.size(), 2U);
  EXPECT_EQ(batch->metrics[1].last, 2);
  EXPECT_EQ(batch->malformed, 1U);
}

TEST_F(SegmentReaderTest, AStateLeftInMidChangeIsSaidToBeSo) {
  SegmentReader reader = OpenReader();
  recorder_->EnterPhase(static_cast<std::uint32_t>(Phase::kData));
  Patch(recorder_->path(), offsetof(Header, step_state), std::uint64_t{7});
  const auto state = reader.State();
  ASSERT_TRUE(state);
  EXPECT_FALSE(state->consistent);
  EXPECT_EQ(state->phase, Phase::kData);
}

TEST_F(SegmentReaderTest, ReadsWhileTheWriterRaces) {
  SegmentReader reader = OpenReader();
  const std::jthread writer([&](const std::stop_token& stop) {
    for (std::uint64_t i = 0; !stop.stop_requested(); ++i) {
      recorder_->BeginStep(i);
      recorder_->EnterPhase(static_cast<std::uint32_t>(i % kPhases));
      recorder_->EndStep();
      // Outside a step every value is a record.
      for (int k = 0; k < 50; ++k) recorder_->RecordMetric(kSamples, static_cast<double>(i));
    }
  });
  std::uint64_t seen = 0;
  double last = -1;
  while (seen < 300'000) {
    const auto batch = reader.Read();
    ASSERT_TRUE(batch);
    ASSERT_EQ(batch->malformed, 0U);
    for (const MetricRecord& r : batch->metrics) {
      ASSERT_LE(last, r.last);
      ASSERT_TRUE(r.sum == r.last && r.min == r.last && r.max == r.last);
      last = r.last;
    }
    for (const StepRecord& r : batch->steps) {
      std::uint64_t phases = 0;
      for (const std::uint64_t ns : r.phase_ns) phases += ns;
      ASSERT_EQ(phases, r.total_ns);
    }
    seen += batch->metrics.size() + batch->overwritten;
    ASSERT_TRUE(reader.State());
  }
}

TEST_F(SegmentReaderTest, ThreadsThatMeetLoseCallsAndNothingElse) {
  SegmentReader reader = OpenReader();
  constexpr int kThreads = 4;
  constexpr int kCalls = 20'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kCalls; ++i) {
        recorder_->RecordMetric(kLocalLoss, 1);
        recorder_->BeginStep(static_cast<std::uint64_t>(i));
        recorder_->EndStep();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto batch = reader.Read();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->malformed, 0U);
  EXPECT_LE(recorder_->counters().dropped_busy, std::uint64_t{kThreads * kCalls * 3});
}

TEST_F(SegmentReaderTest, ClosingTakesTheFileAwayAndSaysSoInIt) {
  SegmentReader reader = OpenReader();
  const std::string path = recorder_->path();
  recorder_->RecordMetric(kLocalLoss, 3);
  recorder_->Close();
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(recorder_->status(), RecorderStatus::kClosed);
  recorder_->RecordMetric(kLocalLoss, 4);  // nothing
  EXPECT_TRUE(reader.State() && reader.State()->closed);
  const auto batch = reader.Read();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->metrics.size(), 1U);
}

TEST_F(SegmentReaderTest, AStepThatBeginsEndsTheOneBefore) {
  SegmentReader reader = OpenReader();
  recorder_->BeginStep(0);
  recorder_->RecordMetric(kLocalLoss, 3);
  recorder_->BeginStep(1);
  recorder_->EndStep();
  const auto batch = reader.Read();
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->steps.size(), 2U);
  EXPECT_EQ(batch->steps[0].step, 0U);
  EXPECT_LE(batch->steps[0].end_ns, batch->steps[1].end_ns);
  EXPECT_EQ(batch->metrics.size(), 1U);
  EXPECT_EQ(recorder_->counters().dropped_misuse, 0U);
}

TEST_F(SegmentReaderTest, MisuseIsCountedNotPunished) {
  recorder_->EnterPhase(8);
  recorder_->EnterPhase(~0U);
  recorder_->RecordMetric(-1, 1);
  recorder_->RecordMetric(4, 1);
  recorder_->EnterCollective(0, 1, 1, false);
  recorder_->ExitCollective(1, true);
  recorder_->AddWait(9, 1);
  recorder_->BeginSlow(0);
  recorder_->BeginSlow(5);
  recorder_->EndStep();
  EXPECT_EQ(recorder_->counters().dropped_misuse, 10U);
  EXPECT_EQ(recorder_->counters().records, 0U);
}

TEST_F(SegmentReaderTest, RefusesWhatIsNoSegment) {
  const std::string path = recorder_->path();
  const auto code = [&] { return SegmentReader::Open(path).error().code(); };
  Patch(path, offsetof(Header, version), std::uint32_t{2});
  EXPECT_EQ(code(), Code::kCorrupt);
  Patch(path, 0, std::uint64_t{0});
  EXPECT_EQ(code(), Code::kUnavailable);
  Patch(path, 0, std::uint64_t{1});
  EXPECT_EQ(code(), Code::kCorrupt);
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(code(), Code::kCorrupt);
  EXPECT_EQ(SegmentReader::Open(folder_.path()).error().code(), Code::kResource);
  std::filesystem::create_symlink(path, folder_.path() + "/link");
  EXPECT_EQ(SegmentReader::Open(folder_.path() + "/link").error().code(), Code::kResource);
  std::filesystem::resize_file(path, kSegmentBytes);  // the recorder still has it mapped
}

TEST_F(SegmentReaderTest, AFileCutShortIsAnError) {
  SegmentReader reader = OpenReader();
  const std::string copy = folder_.path() + "/copy";
  std::filesystem::copy_file(recorder_->path(), copy);
  auto of_copy = SegmentReader::Open(copy);
  ASSERT_TRUE(of_copy);
  Patch(copy, offsetof(Header, heads), std::uint64_t{1'000});
  std::filesystem::resize_file(copy, kStepsAt + 100);
  EXPECT_EQ(of_copy->Read().error().code(), Code::kCorrupt);
  std::filesystem::resize_file(copy, 10);
  EXPECT_EQ(of_copy->State().error().code(), Code::kCorrupt);
}

TEST_F(SegmentReaderTest, AnyBytesAtAllEndInValuesOrAnError) {
  recorder_->RecordMetric(kLocalLoss, 1);
  std::ifstream file(recorder_->path(), std::ios::binary);
  const std::string sound{std::istreambuf_iterator<char>(file), {}};
  const std::string path = folder_.path() + "/garbage";
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 400; ++round) {
    std::string bytes = sound;
    const std::size_t hits = 1 + random() % 60;
    for (std::size_t i = 0; i < hits; ++i) {
      const std::size_t span = random() % 4 == 0 ? bytes.size() : sizeof(Header);
      bytes[random() % span] = static_cast<char>(random());
    }
    if (random() % 8 == 0) bytes.resize(random() % bytes.size());
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
    auto reader = SegmentReader::Open(path);
    if (!reader) continue;
    (void)reader->State();
    for (int i = 0; i < 2; ++i) {
      const auto batch = reader->Read();
      ASSERT_TRUE(!batch || batch->metrics.size() <= std::size_t{1} << 20);
    }
    ASSERT_EQ(reader->info().job.find('\n'), std::string::npos);
  }
}

TEST(SegmentNames, AreReadAsTheyAreWritten) {
  const SegmentName name = MakeSegmentName("a job/of mine.7", 12, 345, 6'789);
  char text[256];
  ASSERT_TRUE(FormatSegmentName(name, text, sizeof(text)));
  EXPECT_STREQ(text, "ringward.a_job_of_mine_7.12.345.6789");
  SegmentName read{};
  ASSERT_TRUE(ParseSegmentName(text, read));
  EXPECT_STREQ(read.job, name.job);
  EXPECT_EQ(read.rank, 12);
  EXPECT_EQ(read.pid, 345);
  EXPECT_EQ(read.start_time, 6'789U);
  EXPECT_FALSE(FormatSegmentName(name, text, 10));
  for (const char* const bad :
       {"", "ringward", "ringward.", "ringward..0.1.2", "ringward.a.0.1", "ringward.a.0.1.2.3",
        "ringward.a.-1.1.2", "ringward.a.0.99999999999.2", "ringward.a.0.1.2x",
        "ringward.a b.0.1.2", "ringward.a.0.1.99999999999999999999999",
        "ringward-job-2a1bfce76d1b7adb",
        "ringward.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.0.1.2"}) {
    EXPECT_FALSE(ParseSegmentName(bad, read)) << bad;
  }
}

TEST(SegmentFolder, ListsSegmentsOnly) {
  const TestFolder folder;
  const TestRecorder one(folder.options(1, 2));
  const TestRecorder zero(folder.options(0, 2));
  std::ofstream(folder.path() + "/ringward.something") << "else";
  const auto found = ListSegments(folder.path());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].rank, 0);
  EXPECT_EQ(found[0].path, zero->path());
  EXPECT_EQ(found[1].rank, 1);
  EXPECT_EQ(RemoveDeadSegments(folder.path()), 0) << "they live";
  EXPECT_TRUE(ListSegments(folder.path() + "/nowhere").empty());
}

}  // namespace
}  // namespace ringward::telemetry
