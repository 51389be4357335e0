#include "pipeline/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "detect/detect_test_support.h"
#include "detect/hostile_test_support.h"

namespace ringward::pipeline {
namespace {

/// All that is told, to the last bit: what a recording would hold.
std::string TextOf(const Outcome& outcome) {
  std::string text;
  const auto add = [&](auto value) { text += std::to_string(value) + " "; };
  const auto bits = [&](double value) { add(std::bit_cast<std::uint64_t>(value)); };
  for (const signal::Finding& finding : outcome.findings) {
    text += std::string(NameOf(finding.kind)) + " " + finding.detector + " " + finding.host + " ";
    add(finding.id);
    for (const std::int32_t rank : finding.ranks) add(rank);
    add(finding.step);
    add(finding.since_step);
    add(finding.at.count());
    for (const double value : {finding.p_value, finding.effect, finding.lost_seconds}) bits(value);
    text += finding.evidence + (finding.over ? " over\n" : "\n");
  }
  for (const signal::Cause& cause : outcome.causes) {
    add(cause.id);
    text += cause.cause + ": " + cause.summary + " ";
    for (const std::int32_t rank : cause.culprit_ranks) add(rank);
    add(cause.started.count());
    for (const double value : {cause.lost_seconds, cause.speedup_without}) bits(value);
    text += "\n";
  }
  return text;
}

/// A job with several troubles.
std::vector<signal::Event> TroubledJob() {
  std::vector<signal::Event> events =
      detect::EventsOf({.world = 16, .steps = 500}, [](std::int64_t step, auto& numbers) {
        if (step >= 150 && step < 300) numbers.compute[3] *= 1.5F;
        if (step >= 250) numbers.transfer *= 3.0F;
        if (step >= 100) numbers.memory[9] += 3e7F * static_cast<float>(step);
        if (step == 400) numbers.loss[7] = std::numeric_limits<float>::quiet_NaN();
        if (step > 420) numbers.heard[12] = 0;
      });
  events.push_back({events.size(), events.back().received, signal::RankEnded{4, 0, 9}});
  return events;
}

/// The job through the pipeline, `batch` events a call.
std::string TextOfRun(const std::vector<signal::Event>& events, std::size_t batch) {
  State state({});
  std::string text;
  for (std::size_t at = 0; at < events.size(); at += batch) {
    const auto part = std::span(events).subspan(at, std::min(batch, events.size() - at));
    text += TextOf(Step(state, part, part.back().received));
  }
  return text + TextOf(Finish(state, events.back().received)) + TextOf({{}, state.incidents.All()});
}

/// The findings, and the causes as they are in the end: how often a change is told depends on the
/// batches.
std::string FindingsOf(const std::vector<signal::Event>& events, std::size_t batch) {
  State state({});
  std::string text;
  for (std::size_t at = 0; at < events.size(); at += batch) {
    const auto part = std::span(events).subspan(at, std::min(batch, events.size() - at));
    text += TextOf({Step(state, part, part.back().received).findings, {}});
  }
  text += TextOf({Finish(state, events.back().received).findings, {}});
  return text + TextOf({{}, state.incidents.All()});
}

TEST(PipelineTest, TheSameEventsGiveTheSameToTheLastBit) {
  const auto events = TroubledJob();
  const std::string first = TextOfRun(events, 1);
  EXPECT_EQ(TextOfRun(events, 1), first);
  for (const char* const cause :
       {"slow-rank", "slow-network", "memory-leak", "non-finite", "lost-reports", "killed"}) {
    EXPECT_NE(first.find(cause), std::string::npos) << cause;
  }
}

TEST(PipelineTest, BatchesChangeNothing) {
  const auto events = TroubledJob();
  const std::string one_by_one = FindingsOf(events, 1);
  for (const std::size_t batch : {2U, 7U, 64U, 100'000U})
    EXPECT_EQ(FindingsOf(events, batch), one_by_one) << batch;
}

TEST(PipelineTest, AHealthyJobTellsNothing) {
  State state({});
  const auto events = detect::EventsOf({});
  EXPECT_EQ(TextOf(Step(state, events, events.back().received)), "");
  EXPECT_EQ(TextOf(Finish(state, events.back().received)), "");
}

TEST(PipelineTest, HostileJobsFoldIntoIncidentsOfTheirRanks) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto events = detect::Hostile(seed).Events(200);
    State state({});
    signal::Time now{};
    for (const signal::Event& event : events) {
      now = std::max(now, event.received);
      for (const signal::Cause& cause : Step(state, std::span(&event, 1), now).causes) {
        EXPECT_FALSE(cause.summary.empty());
        EXPECT_GE(cause.started, signal::Time{}) << cause.summary;
        EXPECT_TRUE(std::is_sorted(cause.culprit_ranks.begin(), cause.culprit_ranks.end()));
      }
    }
    Finish(state, now);
    EXPECT_EQ(TextOfRun(events, 1), TextOfRun(events, 1));
  }
}

}  // namespace
}  // namespace ringward::pipeline
