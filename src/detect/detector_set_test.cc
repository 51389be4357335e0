#include "detect/detector_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "detect/detect_test_support.h"
#include "detect/hostile_test_support.h"

namespace ringward::detect {
namespace {

signal::Event Framed(std::int64_t step, double seconds, std::size_t world = 4) {
  signal::Frame frame;
  frame.step = step;
  frame.received = signal::FromSeconds(seconds);
  frame.columns.push_back({signal::IdOf(signal::Known::kStepTime), std::vector<float>(world, 2)});
  const signal::Time received = frame.received;
  return {0, received, std::move(frame)};
}

TEST(DetectorSetTest, DropsAndCountsWhatGoesBackOrCannotBe) {
  struct Step {
    const char* title;
    std::int64_t step;
    double seconds;
    std::int32_t steps;
    bool dropped;
  };
  const Step steps[] = {
      {"the first", 10, 100, 1, false},
      {"the next", 11, 102, 1, false},
      {"again", 11, 103, 1, true},
      {"an older one", 9, 104, 1, true},
      {"back in time", 12, 101, 1, true},
      {"at the same time", 12, 102, 1, false},
      {"steps left out", 20, 110, 1, false},
      {"of no steps", 21, 111, 0, true},
      {"of less than none", 21, 111, -3, true},
      {"of several steps", 29, 120, 8, false},
      {"a step without end", INT64_MAX, 130, 1, true},
      {"before the epoch", 30, -5, 1, true},
      {"the next after all that", 30, 130, 1, false},
  };
  DetectorSet detectors({});
  std::uint64_t dropped = 0;
  for (const Step& step : steps) {
    signal::Event event = Framed(step.step, step.seconds);
    std::get<signal::Frame>(event.what).steps = step.steps;
    detectors.OnEvent(event);
    dropped += step.dropped ? 1 : 0;
    EXPECT_EQ(detectors.dropped_frames(), dropped) << step.title;
  }
}

TEST(DetectorSetTest, AFrameOpensAJobOfItsSize) {
  DetectorSet detectors({});
  detectors.OnTime(signal::FromSeconds(1.0));
  detectors.OnEvent({0, {}, signal::JobOpened{"nobody yet", {}}});
  detectors.OnEvent(Framed(0, 1.0, 6));
  EXPECT_EQ(detectors.topology().world(), 6U);
  detectors.OnEvent(Framed(1, 3.0, 9));
  EXPECT_EQ(detectors.topology().world(), 6U) << "a job does not grow by itself";
  EXPECT_DOUBLE_EQ(detectors.step_seconds(), 2.0);
}

TEST(DetectorSetTest, ASecondJobBeginsAnew) {
  DetectorSet detectors({});
  SmallJob job;
  const auto slow = EventsOf(job, [](std::int64_t step, StepNumbers& numbers) {
    if (step > 200) numbers.compute[3] *= 2.0F;
  });
  for (const signal::Event& event : slow) detectors.OnEvent(event);
  const auto open = Latest(detectors.Take());
  ASSERT_EQ(open.size(), 1U);
  EXPECT_FALSE(open[0].over);
  job.world = 4;
  for (signal::Event event : EventsOf(job)) {
    event.received += std::chrono::hours(1);
    if (auto* frame = std::get_if<signal::Frame>(&event.what)) frame->received = event.received;
    detectors.OnEvent(event);
  }
  EXPECT_EQ(detectors.dropped_frames(), 0U) << "steps count from 0 again";
  EXPECT_EQ(detectors.topology().world(), 4U);
  const auto after = detectors.Take();
  ASSERT_EQ(after.size(), 1U) << "what was open is closed, and nothing else is told";
  EXPECT_EQ(after[0].id, open[0].id);
  EXPECT_TRUE(after[0].over);
}

TEST(DetectorSetTest, ASmallerBudgetTellsLater) {
  const auto events = EventsOf({}, [](std::int64_t step, StepNumbers& numbers) {
    if (step >= 200) numbers.compute[3] *= 1.5F;
  });
  const auto step_found = [&](double budget) {
    const auto findings = Watch(events, {.false_alarms_per_day = budget});
    return findings.empty() ? std::int64_t{1000} : findings.front().step;
  };
  EXPECT_GT(step_found(1e-6), step_found(100.0));
}

TEST(DetectorSetTest, HostileJobsBreakNothing) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto events = Hostile(seed).Events(220);
    DetectorSet detectors({});
    for (const signal::Event& event : events) {
      detectors.OnEvent(event);
      detectors.OnTime(event.received);
      const auto world = static_cast<std::int32_t>(detectors.topology().world());
      // What a JobOpened closes is of the job before it.
      const bool opened = std::holds_alternative<signal::JobOpened>(event.what);
      for (const signal::Finding& finding : detectors.Take()) {
        EXPECT_NE(finding.id, 0U);
        EXPECT_FALSE(finding.evidence.empty()) << Brief(finding);
        EXPECT_TRUE(std::isfinite(finding.effect)) << Brief(finding) << ": " << finding.evidence;
        EXPECT_TRUE(std::isfinite(finding.lost_seconds)) << Brief(finding);
        EXPECT_TRUE(std::is_sorted(finding.ranks.begin(), finding.ranks.end())) << Brief(finding);
        for (const std::int32_t rank : finding.ranks)
          EXPECT_TRUE(rank >= 0 && (rank < world || opened)) << Brief(finding) << " of " << world;
      }
    }
    detectors.Finish(events.back().received);
  }
}

}  // namespace
}  // namespace ringward::detect
