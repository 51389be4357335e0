#include "replay/simulate_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "replay/plan.h"

namespace ringward::replay {
namespace {

using signal::Frame;
using signal::Known;

std::vector<signal::Event> EventsOf(const JobOptions& job) {
  std::vector<signal::Event> events;
  const Status done = SimulateJob(job, [&](const signal::Event& event) {
    events.push_back(event);
    return Ok();
  });
  EXPECT_TRUE(static_cast<bool>(done));
  return events;
}

std::vector<Frame> FramesOf(const JobOptions& job) {
  std::vector<Frame> frames;
  for (const signal::Event& event : EventsOf(job)) {
    if (const auto* frame = std::get_if<Frame>(&event.what)) frames.push_back(*frame);
  }
  return frames;
}

std::vector<std::uint32_t> BitsOf(const JobOptions& job) {
  std::vector<std::uint32_t> bits;
  for (const Frame& frame : FramesOf(job)) {
    for (const signal::Column& column : frame.columns) {
      for (const float value : column.values) bits.push_back(std::bit_cast<std::uint32_t>(value));
    }
  }
  return bits;
}

/// Mean over frames [from, to) and `ranks` of a metric.
double Mean(const std::vector<Frame>& frames, Known metric, const std::vector<std::int32_t>& ranks,
            std::size_t from, std::size_t to) {
  double sum = 0.0;
  double count = 0.0;
  for (std::size_t f = from; f < std::min(to, frames.size()); ++f) {
    const signal::Column* const column = frames[f].Find(metric);
    if (column == nullptr) continue;
    for (const std::int32_t rank : ranks) {
      sum += static_cast<double>(column->values[static_cast<std::size_t>(rank)]);
      count += 1.0;
    }
  }
  return sum / count;
}

constexpr JobOptions kJob{.world = 16, .ranks_per_host = 4, .steps = 200, .seed = 7};
constexpr std::size_t kOnset = 100;

JobOptions With(Fault fault) {
  JobOptions job = kJob;
  if (fault.kind == FaultKind::kUnevenPartition) job.stages = 4;
  fault.onset = kOnset;
  if (fault.length == 0) fault.length = 100;
  job.faults = {std::move(fault)};
  return job;
}

TEST(SimulateJobTest, TheSameOptionsGiveTheSameEvents) {
  const auto once = BitsOf(kJob);
  EXPECT_EQ(BitsOf(kJob), once);
  JobOptions other = kJob;
  other.seed = 8;
  EXPECT_NE(BitsOf(other), once);
}

TEST(SimulateJobTest, AHealthyJobIsAsItsOptionsSay) {
  const auto events = EventsOf(kJob);
  ASSERT_EQ(events.size(), 202U);
  const auto& opened = std::get<signal::JobOpened>(events.front().what);
  EXPECT_EQ(opened.topology.world(), 16U);
  EXPECT_EQ(opened.topology.place(5).host, "node1");
  EXPECT_TRUE(std::holds_alternative<signal::JobClosed>(events.back().what));
  for (std::size_t i = 1; i < events.size(); ++i) {
    EXPECT_EQ(events[i].number, i);
    EXPECT_GE(events[i].received, events[i - 1].received);
  }
  const auto frames = FramesOf(kJob);
  const std::vector<std::int32_t> some = {0, 3, 9, 15};
  EXPECT_NEAR(Mean(frames, Known::kComputeTime, some, 0, 200), 0.70, 0.05);
  EXPECT_NEAR(Mean(frames, Known::kDataTime, some, 0, 200), 0.05, 0.01);
  for (const Frame& frame : frames) {
    for (std::size_t r = 0; r < 16; ++r) {
      const auto value = [&](Known metric) { return frame.Find(metric)->values[r]; };
      EXPECT_GT(value(Known::kWaitTime), 0.0F);
      EXPECT_NEAR(value(Known::kStepTime),
                  value(Known::kDataTime) + value(Known::kComputeTime) + value(Known::kWaitTime),
                  1e-5F);
    }
  }
}

// Each kind of fault leaves its mark where it should: the metric of the ranks at fault against the
// same ranks before it (and, with `others`, against the ranks that are well).
struct MarkCase {
  Fault fault;
  Known metric;
  std::vector<std::int32_t> ranks;
  double growth_min, growth_max;
  double others_max;  // growth of the same metric on healthy ranks
};

std::vector<MarkCase> MarkCases() {
  const std::vector<std::int32_t> host = {4, 5, 6, 7};
  return {
      {{.kind = FaultKind::kSlowRank, .severity = 0.5, .ranks = {5}},
       Known::kComputeTime,
       {5},
       1.4,
       1.6,
       1.05},
      {{.kind = FaultKind::kIntermittent, .severity = 0.5, .ranks = {5}},
       Known::kComputeTime,
       {5},
       1.2,
       1.9,
       1.05},
      {{.kind = FaultKind::kSlowInput, .severity = 0.5, .ranks = {5}},
       Known::kDataTime,
       {5},
       6.0,
       12.0,
       1.1},
      {{.kind = FaultKind::kSlowLink, .severity = 1.0, .ranks = host},
       Known::kRetransmits,
       host,
       50.0,
       1e4,
       1.5},
      {{.kind = FaultKind::kSlowNetwork, .severity = 2.0}, Known::kWaitTime, {5}, 1.5, 3.0, 3.0},
      {{.kind = FaultKind::kUnevenPartition, .severity = 0.5, .stage = 1},
       Known::kComputeTime,
       {1, 5, 9, 13},
       1.4,
       1.6,
       1.6},
      {{.kind = FaultKind::kLeak, .severity = 1.0, .ranks = {5}},
       Known::kMemory,
       {5},
       1.2,
       1.5,
       1.01},
      {{.kind = FaultKind::kClockSkew, .severity = 1.0, .ranks = host},
       Known::kClockOffset,
       host,
       1000.0,
       2e4,
       1.01},
      {{.kind = FaultKind::kOddRows, .severity = 1.0, .ranks = {5}},
       Known::kLoss,
       {5},
       1.8,
       2.2,
       1.1},
      {{.kind = FaultKind::kSpike, .length = 3, .severity = 1.0}, Known::kLoss, {5}, 1.8, 2.2, 2.2},
  };
}

TEST(SimulateJobTest, FaultsOfTimeLeaveTheirMark) {
  const std::vector<std::int32_t> well = {0, 1, 2, 12};
  for (const MarkCase& c : MarkCases()) {
    SCOPED_TRACE(NameOf(c.fault.kind));
    const auto frames = FramesOf(With(c.fault));
    ASSERT_EQ(frames.size(), 200U);
    const auto end = c.fault.length == 0 ? 200U : kOnset + static_cast<std::size_t>(c.fault.length);
    const auto growth = [&](const std::vector<std::int32_t>& ranks) {
      return Mean(frames, c.metric, ranks, kOnset, end) / Mean(frames, c.metric, ranks, 0, kOnset);
    };
    EXPECT_GE(growth(c.ranks), c.growth_min);
    EXPECT_LE(growth(c.ranks), c.growth_max);
    EXPECT_LE(growth(well), c.others_max);
  }
}

TEST(SimulateJobTest, UnevenDataTakesTurns) {
  const auto frames = FramesOf(With({.kind = FaultKind::kUnevenData, .severity = 1.0}));
  std::vector<int> led(16, 0);
  for (std::size_t f = kOnset; f < 200; ++f) {
    const auto& compute = frames[f].Find(Known::kComputeTime)->values;
    ++led[static_cast<std::size_t>(std::max_element(compute.begin(), compute.end()) -
                                   compute.begin())];
  }
  EXPECT_LT(*std::max_element(led.begin(), led.end()), 30);
}

TEST(SimulateJobTest, FaultsOfProgressLeaveTheirMark) {
  const auto killed = EventsOf(With({.kind = FaultKind::kKill, .ranks = {5}}));
  ASSERT_EQ(killed.size(), kOnset + 2);
  EXPECT_EQ(std::get<signal::RankEnded>(killed.back().what).rank, 5);
  EXPECT_EQ(std::get<signal::RankEnded>(killed.back().what).signal, 9);

  int frozen = 0;
  for (const auto& event :
       EventsOf(With({.kind = FaultKind::kFreeze, .length = 30, .ranks = {5}}))) {
    if (const auto* progress = std::get_if<signal::Progress>(&event.what)) {
      frozen += progress->idle ? 1 : 0;
      EXPECT_EQ(progress->idle, progress->rank == 5);
      EXPECT_FALSE(progress->in_collective && progress->rank == 5);
    }
  }
  EXPECT_EQ(frozen, 30) << "a report a second";

  const auto lost = FramesOf(With({.kind = FaultKind::kLostReports, .length = 50, .ranks = {5}}));
  for (std::size_t f = 0; f < 200; ++f) {
    const bool missing = signal::IsMissing(lost[f].Find(Known::kStepTime)->values[5]);
    EXPECT_EQ(missing, f >= kOnset && f < kOnset + 50) << f;
  }

  const auto poisoned = FramesOf(With({.kind = FaultKind::kNan, .ranks = {5}}));
  for (std::int32_t r = 0; r < 16; ++r) {
    const auto loss = [&](std::size_t f) {
      return poisoned[f].Find(Known::kLoss)->values[static_cast<std::size_t>(r)];
    };
    EXPECT_TRUE(std::isfinite(loss(kOnset - 1)));
    EXPECT_EQ(std::isnan(loss(kOnset)), r == 5) << r;
    EXPECT_TRUE(std::isnan(loss(kOnset + 1))) << r;
  }
}

TEST(SimulateJobTest, RefusesBadOptions) {
  const auto with = [](auto change) {
    JobOptions job = kJob;
    change(job);
    return job;
  };
  const auto fault = [&](auto change) {
    return with([&](JobOptions& job) {
      Fault bad{.onset = 1, .length = 1, .ranks = {0}};
      change(bad);
      job.faults = {bad};
    });
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<const char*, JobOptions> cases[] = {
      {"one rank", with([](JobOptions& j) { j.world = 1; })},
      {"too many ranks", with([](JobOptions& j) { j.world = 16'385; })},
      {"hosts of nobody", with([](JobOptions& j) { j.ranks_per_host = 0; })},
      {"no stage", with([](JobOptions& j) { j.stages = 0; })},
      {"stages that do not divide", with([](JobOptions& j) { j.stages = 3; })},
      {"no step", with([](JobOptions& j) { j.steps = 0; })},
      {"steps of no time", with([](JobOptions& j) { j.step_seconds = 0.0; })},
      {"steps of no number", with([](JobOptions& j) { j.step_seconds = kNan; })},
      {"negative noise", with([](JobOptions& j) { j.cv = -0.1; })},
      {"nothing but noise", with([](JobOptions& j) { j.cv = 0.6; })},
      {"an onset before the job", fault([](Fault& f) { f.onset = -1; })},
      {"a fault of no length", fault([](Fault& f) { f.length = 0; })},
      {"a negative fault", fault([](Fault& f) { f.severity = -0.5; })},
      {"a fault of no number", fault([](Fault& f) { f.severity = kNan; })},
      {"a rank too many", fault([](Fault& f) { f.ranks = {16}; })},
      {"a rank before the first", fault([](Fault& f) { f.ranks = {-1}; })},
  };
  for (const auto& [title, job] : cases) {
    const Status done = SimulateJob(job, [](const signal::Event&) { return Ok(); });
    ASSERT_FALSE(static_cast<bool>(done)) << title;
    EXPECT_EQ(done.error().code(), Code::kInvalidInput) << title;
  }
}

TEST(SimulateJobTest, ASinksErrorEndsIt) {
  int taken = 0;
  const Status done = SimulateJob(kJob, [&](const signal::Event&) -> Status {
    if (++taken == 10) return Error(Code::kResource, "full");
    return Ok();
  });
  EXPECT_FALSE(static_cast<bool>(done));
  EXPECT_EQ(taken, 10);
}

TEST(PlanTest, FaultsAreDrawnFromTheirRanges) {
  const JobOptions job{.world = 24, .ranks_per_host = 8, .stages = 4, .steps = 1000};
  for (std::size_t k = 0; k < kFaultKinds; ++k) {
    const auto kind = static_cast<FaultKind>(k);
    ASSERT_TRUE(ParseFaultKind(NameOf(kind)));
    EXPECT_EQ(*ParseFaultKind(NameOf(kind)), kind);
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      SCOPED_TRACE(std::string(NameOf(kind)) + ", seed " + std::to_string(seed));
      const Fault fault = DrawFault(kind, job, seed);
      EXPECT_EQ(fault.kind, kind);
      EXPECT_TRUE(fault.onset >= 200 && fault.onset <= 600) << fault.onset;
      EXPECT_TRUE(fault.length >= 3 && fault.end() <= 1000) << fault.length;
      EXPECT_TRUE(fault.severity >= 0.1 && fault.severity <= 3.0) << fault.severity;
      for (const std::int32_t rank : fault.ranks) EXPECT_TRUE(rank >= 0 && rank < 24) << rank;
      for (const std::string& host : fault.hosts) EXPECT_EQ(fault.ranks.size(), 8U) << host;
      const Fault again = DrawFault(kind, job, seed);
      EXPECT_EQ(again.onset, fault.onset);
      EXPECT_EQ(again.ranks, fault.ranks);
      if (seed > 2) continue;
      JobOptions planted = job;
      planted.steps = 1;
      planted.faults = {fault};
      EXPECT_TRUE(
          static_cast<bool>(SimulateJob(planted, [](const signal::Event&) { return Ok(); })));
    }
  }
  EXPECT_FALSE(ParseFaultKind("slow-rnak"));
}

}  // namespace
}  // namespace ringward::replay
