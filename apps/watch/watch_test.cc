// The watcher over ranks that are made up: no processes, no waiting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "recording/reader.h"
#include "recording/test_full_disk.h"
#include "replay/recorded.h"
#include "telemetry/segment_folder.h"
#include "telemetry/test_folder.h"
#include "watch/fake_source.h"
#include "watch/local_source.h"
#include "watch/watcher.h"

namespace ringward::watch {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

/// Writes down what it hears: "job", "found rank-frozen 2", "end".
class Heard final : public Listener {
 public:
  void OnLook(const JobLook&) override {}
  void OnJob(const JobEvents& job) override { lines.push_back("job " + job.run().name); }
  void OnIncident(const JobEvents&, const Told& told) override {
    constexpr const char* kNews[] = {"found ", "changed ", "over "};
    std::string line = kNews[static_cast<std::size_t>(told.news)] + told.cause.cause;
    for (const std::int32_t rank : told.cause.culprit_ranks) line += " " + std::to_string(rank);
    lines.push_back(line);
  }
  void OnEnd(const JobWatch&) override { lines.emplace_back("end"); }
  void OnSelf(const SelfNews& news) override {
    lines.push_back("self " + std::to_string(static_cast<int>(news.kind)) + " " +
                    (news.kind == SelfNews::Kind::kClock ? std::to_string(std::lround(news.seconds))
                                                         : news.text));
  }
  void OnLooked(const Watcher&, bool) override {}
  std::vector<std::string> lines;
};

class WatcherTest : public testing::Test {
 protected:
  void Run(Clock::Duration time) {
    const Clock::Duration end = clock_.Now() + time;
    while (clock_.Now() < end) {
      watcher_.Look();
      source_.Wait(watcher_.next_look());
    }
  }
  std::vector<std::string> News() const {
    std::vector<std::string> news = heard_.lines;
    std::erase(news, "job job");
    return news;
  }

  ManualClock clock_;
  FakeSource source_{clock_};
  Heard heard_;
  Watcher watcher_{{}, source_, clock_, heard_};
};

TEST_F(WatcherTest, AHealthyJobIsNoNews) {
  Run(std::chrono::minutes(5));
  EXPECT_THAT(heard_.lines, ElementsAre("job job"));
  source_.EndAll(true);
  Run(milliseconds(500));
  EXPECT_THAT(News(), ElementsAre("end"));
  EXPECT_EQ(watcher_.jobs(), 0U);
  EXPECT_FALSE(watcher_.found_any());
}

TEST_F(WatcherTest, AFrozenRankIsNamedInTimeAndItIsOverWhenItGoesOn) {
  for (const bool inside : {false, true}) {
    SCOPED_TRACE(inside ? "inside the collective" : "outside");
    heard_.lines.clear();
    Run(std::chrono::seconds(20));
    source_.Freeze(inside);
    Run(std::chrono::seconds(6));
    EXPECT_THAT(News(), ElementsAre("found rank-frozen 2"));
    source_.Thaw();
    Run(std::chrono::seconds(20));
    EXPECT_THAT(News(), ElementsAre("found rank-frozen 2", "over rank-frozen 2"));
  }
}

TEST_F(WatcherTest, ARankWithoutACoreIsToldFromASlowOne) {
  const struct {
    milliseconds queued;
    const char* news;
  } rows[] = {{milliseconds(0), "found slow-rank 1"},
              {milliseconds(10), "found slow-rank 1"},
              {milliseconds(29), "found busy-neighbour"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.queued.count());
    ManualClock clock;
    FakeSource source(clock);
    Heard heard;
    Watcher watcher({}, source, clock, heard);
    for (int look = 0; look < 200; ++look) {
      if (look == 100) source.Slow(row.queued);
      watcher.Look();
      source.Wait(watcher.next_look());
    }
    std::erase(heard.lines, "job job");
    EXPECT_THAT(heard.lines, ElementsAre(row.news));
  }
}

TEST_F(WatcherTest, AProcessThatGoesWithoutAWordIsNamed) {
  Run(std::chrono::seconds(10));
  source_.rank(1).ended = true;
  Run(std::chrono::seconds(3));
  EXPECT_THAT(News(), ElementsAre("found killed 1"));
}

TEST_F(WatcherTest, ARankThatComesBackIsWatchedAgain) {
  const struct {
    const char* name;
    const char* host;
    std::uint64_t behind;  ///< steps that it does not know of
  } rows[] = {{"where it was", "here", 0},
              {"elsewhere", "there", 0},
              {"counting from where it was saved", "here", 40},
              {"counting from the beginning", "here", 240}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    ManualClock clock;
    FakeSource source(clock);
    Heard heard;
    Watcher watcher({}, source, clock, heard);
    const auto run = [&](int looks) {
      for (int look = 0; look < looks; ++look) {
        watcher.Look();
        source.Wait(watcher.next_look());
      }
    };
    run(40);
    source.rank(1).ended = true;
    run(12);
    source.Restart(1, 200, row.host, row.behind);
    run(80);
    const JobEvents& events = watcher.watches()[0]->events();
    EXPECT_EQ(events.living(), 4U);
    EXPECT_GE(events.step() + 10, static_cast<std::int64_t>(source.step())) << "the others go on";
    EXPECT_EQ(events.samples_lost() > 0, row.behind > 0);
    source.rank(1).ended = true;
    run(12);
    EXPECT_EQ(events.living(), 3U);
    std::erase(heard.lines, "job job");
    EXPECT_THAT(heard.lines, ElementsAre("found killed 1", "found killed 1"));
  }
}

TEST_F(WatcherTest, WhatIsToldTwiceCountsOnce) {
  Run(std::chrono::seconds(20));
  for (int time = 0; time < 3; ++time) {
    source_.Repeat();
    Run(std::chrono::seconds(10));
  }
  EXPECT_THAT(heard_.lines, ElementsAre("job job"));
  const JobEvents& events = watcher_.watches()[0]->events();
  EXPECT_GE(events.step() + 10, static_cast<std::int64_t>(source_.step()));
  EXPECT_EQ(events.samples_lost(), 0U);
}

TEST_F(WatcherTest, OfIncidentsThatAreOverTheNewestAreKept) {
  constexpr std::uint64_t kDeaths = 300;
  Run(std::chrono::seconds(10));
  for (std::uint64_t death = 1; death <= kDeaths; ++death) {
    source_.rank(1).ended = true;
    Run(std::chrono::seconds(3));
    source_.Restart(1, 200 + static_cast<std::int32_t>(death), "here");
    Run(std::chrono::seconds(16));
  }
  const JobWatch& job = *watcher_.watches()[0];
  EXPECT_EQ(job.found(), kDeaths);
  EXPECT_EQ(job.incidents().size(), JobWatch::kOverMost);
  EXPECT_EQ(job.incidents().rbegin()->first, kDeaths);
}

/// The clock of another, whose time of day is set now and then.
class SetClock final : public Clock {
 public:
  explicit SetClock(const Clock& clock) : clock_(clock) {}
  Duration Now() const override { return clock_.Now(); }
  Duration WallNow() const override { return clock_.WallNow() + set_; }
  void Set(std::chrono::seconds by) { set_ += by; }

 private:
  const Clock& clock_;
  Duration set_ = std::chrono::hours(24);
};

TEST(WatcherClockTest, AClockThatIsSetIsSaidAndChangesNothing) {
  ManualClock time;
  SetClock clock(time);
  FakeSource source(time);
  Heard heard;
  Watcher watcher({}, source, clock, heard);
  const auto run = [&] {
    for (int look = 0; look < 80; ++look) {
      watcher.Look();
      source.Wait(watcher.next_look());
    }
  };
  run();
  for (const int seconds : {-3600, 3600, 2, -7200}) {
    heard.lines.clear();
    clock.Set(std::chrono::seconds(seconds));
    run();
    EXPECT_THAT(heard.lines, ElementsAre("self 0 " + std::to_string(seconds)));
  }
  heard.lines.clear();
  source.Freeze(false);
  run();
  EXPECT_THAT(heard.lines, ElementsAre("found rank-frozen 2"));
}

TEST_F(WatcherTest, WhereAllGoAtOnceNobodyIsNamed) {
  Run(std::chrono::seconds(10));
  source_.EndAll(false);
  Run(std::chrono::seconds(3));
  EXPECT_THAT(News(), ElementsAre("found killed", "end"));
}

TEST_F(WatcherTest, WhoGoesAfterAnotherHasLeftIsNotNamed) {
  Run(std::chrono::seconds(10));
  source_.rank(0).ended = source_.rank(0).state.closed = true;
  Run(milliseconds(250));
  source_.EndAll(false);
  Run(std::chrono::seconds(3));
  EXPECT_THAT(News(), ElementsAre("end"));
}

TEST_F(WatcherTest, ANanIsTheRanksThatMadeIt) {
  Run(std::chrono::seconds(10));
  source_.loss = [](std::int32_t rank) { return rank == 3 ? std::nan("") : 1.0; };
  Run(std::chrono::seconds(2));
  EXPECT_THAT(News(), ElementsAre("found non-finite 3"));
}

TEST_F(WatcherTest, SegmentsThatClaimNonsenseArePassedOver) {
  source_.rank(0).who.world = 1 << 30;
  source_.rank(1).who.rank = -1;
  source_.rank(2).who.rank = kFakeWorld;
  source_.rank(3).who.world = 0;
  Run(std::chrono::seconds(2));
  EXPECT_THAT(heard_.lines, IsEmpty());
}

/// What makes findings equal: all that is printed of them.
std::vector<std::string> Printed(const std::vector<signal::Finding>& findings) {
  std::vector<std::string> lines;
  for (const signal::Finding& finding : findings) {
    lines.push_back(std::to_string(finding.id) + NameOf(finding.kind) + finding.evidence +
                    std::to_string(finding.at.count()) + (finding.over ? " over" : ""));
  }
  return lines;
}

/// All findings in the recording, as they were live.
std::vector<signal::Finding> FindingsIn(const std::string& path) {
  std::vector<signal::Finding> findings;
  auto reader = recording::Reader::Open(path);
  EXPECT_TRUE(reader);
  while (true) {
    auto finding = reader->NextFinding();
    EXPECT_TRUE(finding);
    if (!finding || !*finding) return findings;
    findings.push_back(**std::move(finding));
  }
}

TEST(WatchRecordingTest, AReplayOfARecordingFindsTheSame) {
  const telemetry::TestFolder folder;
  const std::string path = folder.path() + "/run.rwrec";
  ManualClock clock;
  FakeSource source(clock);
  Heard heard;
  {
    auto writer = recording::Writer::Open(path);
    ASSERT_TRUE(writer);
    Watcher watcher({.record = *std::move(writer)}, source, clock, heard);
    for (int look = 0; look < 400; ++look) {
      if (look == 80) source.Freeze(true);
      if (look == 120) source.Thaw();
      if (look == 200) source.loss = [](std::int32_t r) { return r == 1 ? std::nan("") : 1.0; };
      if (look == 399) source.EndAll(true);
      watcher.Look();
      source.Wait(watcher.next_look());
    }
    EXPECT_EQ(watcher.jobs(), 0U);
  }
  const auto live = FindingsIn(path);
  ASSERT_FALSE(live.empty());
  auto again = recording::Reader::Open(path);
  ASSERT_TRUE(again);
  const auto replayed = replay::ReplayRecording(*again, {});
  ASSERT_TRUE(replayed);
  EXPECT_EQ(Printed(replayed->findings), Printed(live));
}

TEST(WatchRecordingTest, AFullDiskIsSaidWithWhatItCostsAndWatchingGoesOn) {
  const telemetry::TestFolder folder;
  ManualClock clock;
  FakeSource source(clock);
  Heard heard;
  auto writer = recording::Writer::Open(folder.path() + "/run.rwrec");
  ASSERT_TRUE(writer);
  Watcher watcher({.record = *std::move(writer)}, source, clock, heard);
  const recording::FullDisk disk(512 << 10);
  for (int look = 0; look < 1200; ++look) {
    if (look == 1100) source.Freeze(false);
    watcher.Look();
    source.Wait(watcher.next_look());
  }
  ASSERT_EQ(heard.lines.size(), 3U);
  EXPECT_THAT(heard.lines[1], testing::StartsWith("self 2 recording of job job has stopped: "));
  EXPECT_EQ(heard.lines[2], "found rank-frozen 2");
  const std::uint64_t lost = watcher.not_recorded();
  EXPECT_GT(lost, 0U);
  source.EndAll(true);
  watcher.Look();
  EXPECT_EQ(watcher.jobs(), 0U);
  EXPECT_GT(watcher.not_recorded(), lost);
}

// Detectors go on with what they have learned: rank 1 is slower than it was before the change.
TEST(WatchRecordingTest, RulesChangeWhileRunningAndInTheReplay) {
  const telemetry::TestFolder folder;
  const std::string path = folder.path() + "/run.rwrec";
  const detect::DetectOptions first{.worth = 0.9};
  const detect::ThresholdRule limit{
      .name = "slow-step", .metric = signal::Known::kStepTime, .above = 0.07, .for_seconds = 1.0};
  ManualClock clock;
  FakeSource source(clock);
  Heard heard;
  {
    auto writer = recording::Writer::Open(path);
    ASSERT_TRUE(writer);
    Watcher watcher({.detect = first, .record = *std::move(writer)}, source, clock, heard);
    for (int look = 0; look < 300; ++look) {
      if (look == 100) source.Slow({});
      if (look == 160) {
        EXPECT_THAT(heard.lines, ElementsAre("job job")) << "nothing is worth telling";
        watcher.SetRules({.worth = 0.05, .thresholds = {limit}}, "a test");
      }
      if (look == 299) source.EndAll(true);
      watcher.Look();
      source.Wait(watcher.next_look());
    }
  }
  EXPECT_THAT(heard.lines, testing::IsSupersetOf({"self 1 rules changed: a test",
                                                  "found slow-rank 1", "found slow-step"}));
  const auto live = FindingsIn(path);
  ASSERT_FALSE(live.empty());
  for (const auto& [rules, same] : {std::pair{replay::ReplayRules::kRecorded, true},
                                    std::pair{replay::ReplayRules::kGiven, false}}) {
    auto again = recording::Reader::Open(path);
    ASSERT_TRUE(again);
    const auto replayed = replay::ReplayRecording(*again, first, rules);
    ASSERT_TRUE(replayed) << replayed.error().what();
    EXPECT_EQ(Printed(replayed->findings) == Printed(live), same);
  }
}

TEST(LocalSourceTest, SeesTheSegmentsOfLivingProcesses) {
  const telemetry::TestFolder folder;
  LocalSource source({.folder = folder.path()}, SystemClock());
  EXPECT_THAT(source.Look(), IsEmpty());
  telemetry::TestRecorder recorder(folder.options(1, 2));
  recorder->BeginStep(0);
  recorder->EndStep();
  auto sights = source.Look();
  ASSERT_EQ(sights.size(), 1U);
  EXPECT_EQ(sights[0].who.rank, 1);
  EXPECT_EQ(sights[0].batch.steps.size(), 1U);
  EXPECT_FALSE(sights[0].stopped || sights[0].ended);
  recorder->Close();
  sights = source.Look();
  ASSERT_EQ(sights.size(), 1U);
  EXPECT_TRUE(sights[0].ended && sights[0].state.closed);
  EXPECT_THAT(source.Look(), IsEmpty());
}

TEST(LocalSourceTest, SeesTheMachineOnceASecond) {
  const telemetry::TestFolder folder;
  ManualClock clock;
  LocalSource source({.folder = folder.path()}, clock);
  telemetry::TestRecorder recorder(folder.options(0, 1));
  std::vector<std::size_t> told;
  for (int look = 0; look < 8; ++look, clock.Advance(milliseconds(250))) {
    const auto sights = source.Look();
    ASSERT_EQ(sights.size(), 1U);
    told.push_back(sights[0].machine.size());
    if (look != 4) continue;
    const auto& values = sights[0].machine;
    EXPECT_TRUE(std::any_of(values.begin(), values.end(), [](const MachineValue& value) {
      return value.metric == signal::Known::kMemoryLimit && value.value > 0.0;
    }));
  }
  EXPECT_GT(told[4], told[0]);  // rates need two samples
  for (const std::size_t look : {1U, 2U, 3U, 5U, 6U, 7U}) EXPECT_EQ(told[look], 0U);
}

// As it is while the recorder makes it: the file is there before it is a segment.
TEST(LocalSourceTest, WaitsForASegmentThatIsBeingMade) {
  const telemetry::TestFolder folder;
  telemetry::TestRecorder recorder(folder.options(0, 1));
  const std::string whole = telemetry::ListSegments(folder.path()).at(0).path;
  const std::string away = folder.path() + "/away";
  std::filesystem::rename(whole, away);
  for (const auto& [pause, seen] :
       {std::pair(milliseconds(500), 1U), std::pair(milliseconds(2500), 0U)}) {
    SCOPED_TRACE(pause.count());
    ManualClock clock;
    LocalSource source({.folder = folder.path()}, clock);
    std::ofstream(whole) << "short";
    EXPECT_THAT(source.Look(), IsEmpty());
    clock.Advance(pause);
    EXPECT_THAT(source.Look(), IsEmpty());
    std::filesystem::remove(whole);
    std::filesystem::copy_file(away, whole);
    clock.Advance(milliseconds(250));
    EXPECT_EQ(source.Look().size(), seen);
    std::filesystem::remove(whole);
  }
}

TEST(LocalSourceTest, SeesTheNamedJobOnly) {
  const telemetry::TestFolder folder;
  telemetry::TestRecorder recorder(folder.options(0, 1));
  EXPECT_EQ(LocalSource({.job = "job", .folder = folder.path()}, SystemClock()).Look().size(), 1U);
  EXPECT_THAT(LocalSource({.job = "jo", .folder = folder.path()}, SystemClock()).Look(), IsEmpty());
}

}  // namespace
}  // namespace ringward::watch
