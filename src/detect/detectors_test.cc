// Each kind of trouble as one small job, and healthy jobs that must find nothing: add a row.
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <vector>

#include "detect/detect_test_support.h"

namespace ringward::detect {
namespace {

constexpr std::int64_t kFrom = 200;
constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();

/// Trouble from step kFrom on.
Trouble Since(Trouble trouble) {
  return [trouble = std::move(trouble)](std::int64_t step, StepNumbers& numbers) {
    if (step >= kFrom) trouble(step, numbers);
  };
}

/// The values of some ranks times a factor, from kFrom on.
Trouble Times(std::vector<float> StepNumbers::*what, std::vector<std::size_t> ranks, float factor) {
  return Since([=](std::int64_t, StepNumbers& numbers) {
    for (const std::size_t rank : ranks) (numbers.*what)[rank] *= factor;
  });
}

Trouble Uneven() {
  return Since([](std::int64_t step, StepNumbers& numbers) {
    Rng random(99, RngPurpose::kTest, static_cast<std::uint64_t>(step));
    for (float& compute : numbers.compute)
      compute *= static_cast<float>(0.6 + 0.9 * random.Uniform());
  });
}

Trouble Leak(std::size_t rank) {
  return Since([=](std::int64_t step, StepNumbers& numbers) {
    numbers.memory[rank] += 4e7F * static_cast<float>(step - kFrom);
  });
}

Trouble Spike(float factor, std::int64_t length) {
  return Since([=](std::int64_t step, StepNumbers& numbers) {
    if (step >= kFrom + length) return;
    for (float& loss : numbers.loss) loss *= factor;
  });
}

/// All ranks' values times one factor for twenty steps, then times another.
Trouble Factors(std::vector<float> StepNumbers::*what, float first, float then) {
  return Since([=](std::int64_t step, StepNumbers& numbers) {
    for (float& value : numbers.*what) value *= step < kFrom + 20 ? first : then;
  });
}

struct Row {
  const char* title;
  SmallJob job;
  Trouble trouble;
  std::vector<std::string> told;       ///< findings that must be there (Brief)
  std::vector<std::string> allowed{};  ///< and kinds that may be there besides: its symptoms
  std::int64_t steps_max = 30;         ///< from kFrom to the first of `told`
};

std::vector<Row> RowsOfTime() {
  const SmallJob eight;
  const SmallJob stages{.world = 16, .stages = 4};
  using N = StepNumbers;
  return {
      {"slow rank", eight, Times(&N::compute, {3}, 1.5F), {"rank-slow 3"}},
      {"slow rank of 32 by 20 %",
       {.world = 32, .ranks_per_host = 8},
       Times(&N::compute, {17}, 1.27F),
       {"rank-slow 17"}},
      {"slow host",
       eight,
       Times(&N::compute, {4, 5, 6}, 1.8F),
       {"rank-slow 4", "rank-slow 5", "rank-slow 6"},
       {"all-slow"}},
      {"slow input of a rank", eight, Times(&N::data, {2}, 8.0F), {"rank-slow 2"}},
      {"slow now and then",
       eight,
       Since([](std::int64_t step, N& n) {
         if (step % 6 == 0) n.compute[5] *= 2.5F;
       }),
       {"rank-tail 5"},
       {},
       60},
      {"slow network",
       eight,
       Since([](std::int64_t, N& n) { n.transfer *= 3.0F; }),
       {"wait-slow"},
       {},
       60},
      {"slow storage for all",
       eight,
       Times(&N::data, {0, 1, 2, 3, 4, 5, 6, 7}, 10.0F),
       {"all-slow"},
       {},
       60},
      {"uneven data", eight, Uneven(), {"uneven-work"}, {"rank-tail", "all-slow"}, 60},
      {"one stage slower",
       stages,
       Times(&N::compute, {2, 6, 10, 14}, 1.6F),
       {"stage-slow 2 6 10 14"},
       {},
       60},
  };
}

std::vector<Row> RowsOfNumbers() {
  const SmallJob eight;
  using N = StepNumbers;
  return {
      {"NaN on one rank, then on all",
       eight,
       Since([](std::int64_t step, N& n) {
         for (std::size_t r = 0; r < n.loss.size(); ++r) {
           if (r == 1 || step > kFrom) n.loss[r] = n.norm[r] = kNotANumber;
         }
       }),
       {"non-finite 1"}},
      {"infinite gradient of one rank",
       eight,
       [](std::int64_t step, N& n) {
         if (step == kFrom) n.norm[7] = INFINITY;
       },
       {"non-finite 7"}},
      {"NaN on all at once blames nobody",
       eight,
       Since([](std::int64_t, N& n) { n.loss.assign(n.loss.size(), kNotANumber); }),
       {"non-finite"}},
      {"loss spike", eight, Spike(3.0F, 3), {"loss-spike"}},
      {"divergence", eight, Factors(&N::loss, 6.0F, 6.0F), {"loss-diverging"}},
      {"divergence that eases is no spike",
       eight,
       Factors(&N::loss, 6.0F, 1.7F),
       {"loss-diverging"}},
      {"a gradient that vanishes, then explodes",
       eight,
       Factors(&N::norm, 1e-4F, 50.0F),
       {"gradient-vanishes", "gradient-explodes"}},
      {"gradient explosion", eight, Factors(&N::norm, 50.0F, 50.0F), {"gradient-explodes"}},
      {"gradient vanishes", eight, Factors(&N::norm, 1e-4F, 1e-4F), {"gradient-vanishes"}},
      {"data of one rank skewed", eight, Times(&N::loss, {4}, 2.5F), {"rank-apart 4"}, {}, 60},
      {"gradient of one rank too small",
       eight,
       Times(&N::norm, {4}, 0.3F),
       {"rank-apart 4"},
       {},
       60},
      {"weights of one replica differ",
       eight,
       Since([](std::int64_t, N& n) { n.hash[3] += 1.0F; }),
       {"replicas-differ 3"}},
      {"weights differ without a majority",
       eight,
       Since([](std::int64_t, N& n) {
         for (std::size_t r = 0; r < 4; ++r) n.hash[r] += 1.0F;
       }),
       {"replicas-differ"}},
  };
}

std::vector<Row> RowsOfHosts() {
  const SmallJob eight;
  using N = StepNumbers;
  return {
      {"stall",
       eight,
       [](std::int64_t step, N& n) {
         if (step == kFrom) n.compute[6] = 45.0F;
       },
       {"rank-stalled 6"}},
      {"reports of a host missing",
       eight,
       Since([](std::int64_t, N& n) { n.heard[4] = n.heard[5] = 0; }),
       {"source-lost 4", "source-lost 5"}},
      {"leak", eight, Leak(2), {"memory-trend 2"}, {}, 110},
      {"a host sends again",
       eight,
       Times(&N::retransmits, {0, 1, 2, 3}, 200.0F),
       {"retransmits 0 1 2 3"},
       {},
       60},
      {"clock moved",
       eight,
       Since([](std::int64_t, N& n) {
         for (std::size_t r = 4; r < 8; ++r) n.clock[r] += 2.0F;
       }),
       {"clock-skew 4 5 6 7"}},
  };
}

/// The latest word on each stretch: an open stretch may have been told as another kind at first.
void ExpectTold(const Row& row, const std::vector<signal::Finding>& findings) {
  std::set<std::string> told;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const signal::Finding& finding : Latest(findings)) {
    const std::string brief = Brief(finding);
    const bool expected = std::find(row.told.begin(), row.told.end(), brief) != row.told.end();
    const std::string kind = NameOf(finding.kind);
    EXPECT_TRUE(expected ||
                std::find(row.allowed.begin(), row.allowed.end(), kind) != row.allowed.end())
        << "unexpected: " << brief << ", step " << finding.step << ": " << finding.evidence;
    if (expected) first = std::min(first, finding.step);
    if (expected) told.insert(brief);
    EXPECT_TRUE(finding.over) << brief << " is not closed at the end";
    EXPECT_FALSE(finding.evidence.empty()) << brief;
    EXPECT_LE(finding.since_step, finding.step) << brief;
  }
  for (const std::string& brief : row.told) EXPECT_TRUE(told.contains(brief)) << "missed " << brief;
  if (told.empty()) return;
  EXPECT_GE(first, kFrom);
  EXPECT_LE(first, kFrom + row.steps_max);
}

void ExpectEachIsFound(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    for (const std::uint64_t seed : {1U, 2U}) {
      SCOPED_TRACE(std::string(row.title) + ", seed " + std::to_string(seed));
      SmallJob job = row.job;
      job.seed = seed;
      ExpectTold(row, Watch(EventsOf(job, row.trouble)));
    }
  }
}

TEST(DetectorsTest, EachSlownessIsFoundAndNothingElse) { ExpectEachIsFound(RowsOfTime()); }
TEST(DetectorsTest, EachOtherTroubleIsFoundAndNothingElse) {
  ExpectEachIsFound(RowsOfNumbers());
  ExpectEachIsFound(RowsOfHosts());
}

TEST(DetectorsTest, HealthyJobsFindNothing) {
  const std::pair<const char*, SmallJob> jobs[] = {
      {"8 ranks", {}},
      {"one rank", {.world = 1}},
      {"two ranks", {.world = 2}},
      {"three ranks", {.world = 3, .ranks_per_host = 1}},
      {"64 ranks", {.world = 64, .steps = 300}},
      {"noisy", {.cv = 0.15}},
      {"still", {.cv = 0.0}},
      {"steady differences", {.steady_spread = 0.4}},
      {"a pipeline", {.world = 16, .stages = 4}},
      {"a pipeline with a stage more costly", {.world = 12, .stages = 3, .steady_spread = 0.3}},
      {"steps of a millisecond", {.step_seconds = 1e-3}},
      {"steps of a minute", {.step_seconds = 60.0}},
  };
  for (const auto& [title, healthy] : jobs) {
    for (const std::uint64_t seed : {1U, 2U}) {
      SmallJob job = healthy;
      job.seed = seed;
      for (const signal::Finding& finding : Latest(Watch(EventsOf(job)))) {
        ADD_FAILURE() << title << ", seed " << seed << ": " << Brief(finding) << " at step "
                      << finding.step << ": " << finding.evidence;
      }
    }
  }
}

// A hard batch now and then is how this job is.
TEST(DetectorsTest, SpikesThatComeAgainAndAgainBecomeUsual) {
  SmallJob job;
  job.steps = 4000;
  std::size_t spikes = 0;
  const std::vector<signal::Event> events =
      EventsOf(job, [&](std::int64_t step, StepNumbers& numbers) {
        if (step < 200 || step % 40 != 0) return;
        ++spikes;
        for (float& loss : numbers.loss) loss *= 2.0F;
        for (float& norm : numbers.norm) norm *= 2.5F;
      });
  std::size_t told = 0;
  for (const signal::Finding& finding : Latest(Watch(events))) {
    EXPECT_EQ(finding.kind, signal::FindingKind::kLossSpike) << finding.evidence;
    ++told;
  }
  EXPECT_GE(told, 1U);
  EXPECT_LE(told, 10U) << "of " << spikes;
}

// Within the warm-up, and soon after it.
TEST(DetectorsTest, AnInputThatSlowsBeforeAllIsLearnedIsNamedAsInput) {
  for (const std::int64_t from : {30, 36, 40, 44}) {
    const auto trouble = [=](std::int64_t step, StepNumbers& numbers) {
      if (step >= from) numbers.data[2] += 1.5F;
    };
    SmallJob job;
    job.world = 4;
    bool found = false;
    for (const signal::Finding& finding : Latest(Watch(EventsOf(job, trouble)))) {
      if (Brief(finding) != "rank-slow 2") continue;
      found = true;
      EXPECT_EQ(finding.phase, signal::Phase::kData) << from << ": " << finding.evidence;
    }
    EXPECT_TRUE(found) << from;
  }
}

// What a rank marks as slow on purpose, and what all do together for a step, is no trouble.
TEST(DetectorsTest, ExpectedSlownessFindsNothing) {
  std::vector<signal::Event> events = EventsOf({}, [](std::int64_t step, StepNumbers& numbers) {
    if (step % 50 >= 45) numbers.compute[static_cast<std::size_t>(step % 3)] *= 30.0F;
  });
  for (signal::Event& event : events) {
    auto* const frame = std::get_if<signal::Frame>(&event.what);
    if (frame != nullptr) frame->expected_slow = frame->step % 50 >= 45;
  }
  for (const signal::Finding& finding : Latest(Watch(events)))
    ADD_FAILURE() << Brief(finding) << ": " << finding.evidence;
}

TEST(DetectorsTest, ASlowRankThatRecoversIsOver) {
  SmallJob job;
  job.steps = 700;
  const auto findings = Watch(EventsOf(job, [](std::int64_t step, StepNumbers& numbers) {
    if (step >= kFrom && step < kFrom + 100) numbers.compute[3] *= 1.6F;
  }));
  ASSERT_FALSE(findings.empty());
  const signal::Time end = findings.back().at;
  EXPECT_TRUE(findings.back().over);
  EXPECT_LT(signal::Seconds(end), 1'000'000.0 + 500.0) << "closed only when the job ended";
  EXPECT_EQ(Latest(findings).size(), 1U) << "one stretch, not several";
  EXPECT_EQ(Brief(findings.back()), "rank-slow 3") << "slow all the time, not now and then";
}

TEST(DetectorsTest, TheTablesSharesStayWithinTheBudget) {
  double sum = 0.0;
  std::set<std::string> names;
  for (const DetectorKind& kind : DetectorTable()) {
    sum += kind.share;
    names.insert(kind.name);
    EXPECT_NE(kind.make(signal::Topology(), {}), nullptr) << kind.name;
  }
  EXPECT_LE(sum, 1.0);
  EXPECT_GT(sum, 0.5);
  EXPECT_EQ(names.size(), DetectorTable().size());
}

}  // namespace
}  // namespace ringward::detect
