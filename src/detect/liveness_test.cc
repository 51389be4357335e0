#include "detect/liveness.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "detect/detect_test_support.h"

namespace ringward::detect {
namespace {

/// What a rank reports of itself while a step is overdue.
enum class Stands {
  kWaits,        ///< inside the collective, as it should
  kFrozen,       ///< outside, its process does not run
  kStoppedIn,    ///< inside the collective, its process is stopped
  kEvaluates,    ///< outside, in work that is known to be long
  kWorks,        ///< outside, its process runs, no progress
  kMoves,        ///< outside, from phase to phase
  kSaysNothing,  ///< nothing was ever heard of it
  kBehind,       ///< inside an older collective
};

constexpr std::int64_t kStepsBefore = 20;

/// Frames of `step_seconds` each, then a step that does not end.
struct Standstill {
  Standstill(std::size_t world, double step_seconds, std::int64_t before = kStepsBefore)
      : detectors({}) {
    SmallJob job{.world = world, .steps = before, .step_seconds = step_seconds};
    for (const signal::Event& event : EventsOf(job)) {
      detectors.OnEvent(event);
      now = event.received;
    }
  }

  signal::Progress Report(std::int32_t rank, Stands stands, int second) const {
    signal::Progress progress{rank, kStepsBefore, signal::Phase::kForward, kStepsBefore};
    const bool inside = stands == Stands::kWaits || stands == Stands::kStoppedIn;
    if (inside) progress.sequence = kStepsBefore + 1;
    progress.in_collective = inside || stands == Stands::kBehind;
    progress.idle = stands == Stands::kFrozen || stands == Stands::kStoppedIn;
    if (stands == Stands::kEvaluates) progress.phase = signal::Phase::kEvaluate;
    if (stands == Stands::kMoves) progress.phase = static_cast<signal::Phase>(second % 3);
    return progress;
  }

  /// One second in which every rank tells where it is.
  void Second(const std::vector<Stands>& ranks, int second) {
    now += std::chrono::seconds(1);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (ranks[r] == Stands::kSaysNothing) continue;
      detectors.OnEvent({0, now, Report(static_cast<std::int32_t>(r), ranks[r], second)});
    }
    detectors.OnTime(now);
  }

  DetectorSet detectors;
  signal::Time now{};
};

TEST(LivenessTest, WhoDoesNotMoveWhileOthersWait) {
  using enum Stands;
  struct Case {
    const char* title;
    double step_seconds;
    std::vector<Stands> ranks;
    std::string told;  // "": nobody
    int seconds_min = 4, seconds_max = 6;
  };
  const Case cases[] = {
      {"all wait: it is the network", 1.0, {kWaits, kWaits, kWaits, kWaits}, "all-wait", 10, 12},
      {"all wait, as long as a step may take",
       20.0,
       {kWaits, kWaits, kWaits, kWaits},
       "all-wait",
       25,
       40},
      {"one is stopped", 1.0, {kWaits, kFrozen, kWaits, kWaits}, "rank-silent 1"},
      {"one is stopped in a job of long steps",
       20.0,
       {kWaits, kFrozen, kWaits, kWaits},
       "rank-silent 1"},
      {"one is stopped inside", 1.0, {kWaits, kStoppedIn, kWaits, kWaits}, "rank-silent 1"},
      {"one evaluates", 1.0, {kWaits, kEvaluates, kWaits, kWaits}, ""},
      {"one works on", 1.0, {kWaits, kWaits, kWorks, kWaits}, "rank-silent 2"},
      {"one may work as long as it ever took",
       20.0,
       {kWaits, kWaits, kWorks, kWaits},
       "rank-silent 2",
       25,
       40},
      {"one moves", 1.0, {kWaits, kWaits, kMoves, kWaits}, ""},
      {"nothing is heard of one", 1.0, {kWaits, kWaits, kWaits, kSaysNothing}, "rank-silent 3"},
      {"two are stopped", 1.0, {kFrozen, kFrozen, kWaits, kWaits}, "rank-silent 0 1"},
      {"most are stopped: nobody is guilty", 1.0, {kFrozen, kFrozen, kFrozen, kWaits}, ""},
      {"nobody waits", 1.0, {kFrozen, kWorks, kWorks, kWorks}, ""},
      {"one waits in another collective", 1.0, {kWaits, kBehind, kWaits, kWaits}, "rank-silent 1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.title);
    Standstill job(c.ranks.size(), c.step_seconds);
    std::string told;
    int found = 0;
    for (int second = 1; second <= 60; ++second) {
      job.Second(c.ranks, second);
      for (const signal::Finding& finding : job.detectors.Take()) {
        EXPECT_TRUE(told.empty()) << "told twice: " << Brief(finding);
        told = Brief(finding);
        found = second;
      }
    }
    EXPECT_EQ(told, c.told);
    if (c.told.empty()) continue;
    EXPECT_GE(found, c.seconds_min);
    EXPECT_LE(found, c.seconds_max);
  }
}

// Ranks load and compile before the first step ends: only what does not run at all is told there.
TEST(LivenessTest, AStopBeforeTheFirstStepIsToldLater) {
  using enum Stands;
  for (const auto& [stands, told] :
       {std::pair(kFrozen, "rank-silent 1"), std::pair(kWorks, ""), std::pair(kSaysNothing, "")}) {
    Standstill job(4, 1.0, 0);
    for (int second = 1; second <= 20; ++second)
      job.Second({kWaits, stands, kWaits, kWaits}, second);
    EXPECT_TRUE(job.detectors.Take().empty());
    for (int second = 21; second <= 40; ++second)
      job.Second({kWaits, stands, kWaits, kWaits}, second);
    const auto found = job.detectors.Take();
    EXPECT_EQ(found.empty() ? "" : Brief(found[0]), told);
  }
}

TEST(LivenessTest, SilenceIsOverWhenAFrameComes) {
  Standstill job(4, 1.0);
  for (int second = 1; second <= 10; ++second)
    job.Second({Stands::kWaits, Stands::kFrozen, Stands::kWaits, Stands::kWaits}, second);
  const auto told = job.detectors.Take();
  ASSERT_EQ(told.size(), 1U);
  const auto step = FrameOf(HealthyStep({.world = 4}, kStepsBefore), kStepsBefore, job.now);
  job.detectors.OnEvent({0, step.received, step});
  const auto after = job.detectors.Take();
  ASSERT_EQ(after.size(), 1U);
  EXPECT_EQ(after[0].id, told[0].id);
  EXPECT_TRUE(after[0].over);
  EXPECT_NEAR(after[0].lost_seconds, 11.0, 1.0);
}

TEST(LivenessTest, EventsSayWhatTheySay) {
  using What = decltype(signal::Event::what);
  struct Case {
    const char* title;
    std::vector<What> events;
    std::vector<std::string> told;
    bool over;  // all of it
  };
  const Case cases[] = {
      {"killed", {signal::RankEnded{2, 0, 9}}, {"rank-ended 2"}, true},
      {"gone, nobody saw how",
       {signal::RankEnded{2, signal::RankEnded::kUnknown, 0}},
       {"rank-ended 2"},
       true},
      {"left with an error", {signal::RankEnded{2, 3, 0}}, {"rank-ended 2"}, true},
      {"left well", {signal::RankEnded{2, 0, 0}}, {}, true},
      {"nobody ended", {signal::RankEnded{7, 1, 0}, signal::RankEnded{-1, 1, 0}}, {}, true},
      {"blind to two", {signal::SourceLost{{1, 0}}}, {"blind 0 1"}, false},
      {"blind and back", {signal::SourceLost{{3}}, signal::SourceBack{{3}}}, {"blind 3"}, true},
      {"half of a host is back",
       {signal::SourceLost{{2, 3}}, signal::SourceBack{{3}}},
       {"blind 2 3"},
       false},
      {"back without having gone", {signal::SourceBack{{3}}}, {}, true},
      {"lost twice", {signal::SourceLost{{3}}, signal::SourceLost{{3}}}, {"blind 3"}, false},
      {"blind to nobody", {signal::SourceLost{{9, -1}}}, {}, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.title);
    Standstill job(4, 1.0);
    for (const What& what : c.events) job.detectors.OnEvent({0, job.now, what});
    std::vector<std::string> told;
    for (const signal::Finding& finding : Latest(job.detectors.Take())) {
      told.push_back(Brief(finding));
      EXPECT_EQ(finding.over, c.over) << told.back();
    }
    EXPECT_EQ(told, c.told);
  }
}

// A host that is heard again tells of steps that are past, and of new ones only after a while.
TEST(LivenessTest, WhoIsBackInSightIsNotMissedAtOnce) {
  const struct {
    const char* title;
    std::int64_t away;   // frames after its return that do not hold rank 3
    std::int64_t again;  // frames after that which do, before it is missing for ten more
    std::vector<std::string> told;
  } cases[] = {
      {"a while", 30, 10, {"blind 3", "source-lost 3"}},
      {"never again", 100, 0, {"blind 3", "source-lost 3"}},
      {"not at all", 0, 30, {"blind 3", "source-lost 3"}},
      {"only just", 30, 0, {"blind 3"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.title);
    Standstill job(4, 1.0);
    job.detectors.OnEvent({0, job.now, signal::SourceLost{{3}}});
    job.detectors.OnEvent({0, job.now, signal::SourceBack{{3}}});
    const std::int64_t missing = c.again > 0 ? 10 : 0;
    for (std::int64_t i = 0; i < c.away + c.again + missing; ++i) {
      auto numbers = HealthyStep({.world = 4}, kStepsBefore + i);
      numbers.heard[3] = i >= c.away && i < c.away + c.again ? 1 : 0;
      const auto frame = FrameOf(numbers, kStepsBefore + i, job.now);
      job.now = frame.received;
      job.detectors.OnEvent({0, frame.received, frame});
    }
    std::vector<std::string> told;
    for (const signal::Finding& finding : Latest(job.detectors.Take()))
      told.push_back(Brief(finding));
    EXPECT_EQ(told, c.told);
  }
}

TEST(LivenessTest, BlindnessIsToldByHost) {
  SmallJob small{.world = 12, .steps = kStepsBefore};
  DetectorSet detectors({});
  signal::Time now{};
  for (const signal::Event& event : EventsOf(small)) {
    detectors.OnEvent(event);
    now = event.received;
  }
  detectors.OnEvent({0, now, signal::SourceLost{{4, 5, 7, 9, 6, 11}}});
  const auto told = detectors.Take();
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].host, "node1");
  EXPECT_EQ(Brief(told[0]), "blind 4 5 6 7");
  EXPECT_EQ(told[0].evidence,
            "blind to ranks 4-7 on node1 since about step 19: its agent is silent");
  EXPECT_EQ(Brief(told[1]), "blind 9 11");
}

// The job goes on: nobody waits, and those out of sight may be well. It stands still, and nobody in
// sight keeps it: then it is they who do.
TEST(LivenessTest, WhoIsOutOfSightIsSuspectedOnlyWhereTheOthersWait) {
  using enum Stands;
  const struct {
    const char* title;
    std::vector<std::int32_t> lost;
    std::vector<Stands> ranks;
    std::vector<std::string> told;
  } cases[] = {
      {"others wait",
       {2, 3},
       {kWaits, kWaits, kSaysNothing, kSaysNothing},
       {"blind 2 3", "host-lost 2 3"}},
      {"others work", {2, 3}, {kWorks, kMoves, kSaysNothing, kSaysNothing}, {"blind 2 3"}},
      {"one in sight is stopped",
       {3},
       {kWaits, kFrozen, kWaits, kSaysNothing},
       {"blind 3", "rank-silent 1"}},
      {"most are out of sight",
       {1, 2, 3},
       {kWaits, kSaysNothing, kSaysNothing, kSaysNothing},
       {"blind 1 2 3"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.title);
    Standstill job(4, 1.0);
    job.detectors.OnEvent({0, job.now, signal::SourceLost{c.lost}});
    for (int second = 1; second <= 30; ++second) job.Second(c.ranks, second);
    std::vector<std::string> told;
    for (const signal::Finding& finding : Latest(job.detectors.Take()))
      told.push_back(Brief(finding));
    EXPECT_EQ(told, c.told);
  }
}

TEST(LivenessTest, AJobThatEndedWellIsNotSilent) {
  Standstill job(4, 1.0);
  job.detectors.OnEvent({0, job.now, signal::JobClosed{}});
  for (int second = 1; second <= 30; ++second)
    job.Second({Stands::kWaits, Stands::kFrozen, Stands::kWaits, Stands::kWaits}, second);
  EXPECT_TRUE(job.detectors.Take().empty());
}

}  // namespace
}  // namespace ringward::detect
