#include "signal/frame_assembler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/rng.h"

namespace ringward::signal {
namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 60U;

Sample At(std::int32_t rank, std::int64_t step, MetricId metric = 0) {
  return {.rank = rank,
          .metric = metric,
          .step = step,
          .value = static_cast<float>(step) * 100 + static_cast<float>(rank) * 10 +
                   static_cast<float>(metric)};
}

std::vector<Frame> Take(FrameAssembler& assembler) {
  std::vector<Frame> frames;
  while (auto frame = assembler.Next()) frames.push_back(*std::move(frame));
  return frames;
}

std::vector<std::int64_t> StepsOf(const std::vector<Frame>& frames) {
  std::vector<std::int64_t> steps;
  for (const Frame& frame : frames) steps.push_back(frame.step);
  return steps;
}

// A script: one letter a deed, then a rank and a step. "s" sample, "e" end, "x" gone, "b" back,
// "w" wait (seconds in the place of the rank).
struct Deed {
  char what;
  std::int32_t rank;
  std::int64_t step;
};

struct Case {
  const char* name;
  std::vector<Deed> deeds;
  std::vector<std::int64_t> closed;
  AssemblerCounts counts;
  std::size_t open_max = 8;
};

// Three ranks.
const std::vector<Case>& WellMeantCases() {
  static const std::vector<Case> cases = {
      {"ended by all",
       {{'s', 0, 5}, {'s', 1, 5}, {'s', 2, 5}, {'e', 0, 5}, {'e', 1, 5}, {'e', 2, 5}},
       {5},
       {.accepted = 3}},
      {"not ended by all",
       {{'e', 0, 5}, {'e', 1, 5}, {'e', 1, 5}, {'s', 2, 5}},
       {},
       {.accepted = 1}},
      {"moved on by two frames",
       {{'s', 0, 1},
        {'s', 1, 1},
        {'s', 2, 1},
        {'s', 0, 2},
        {'s', 1, 2},
        {'s', 2, 2},
        {'s', 0, 3},
        {'s', 1, 3},
        {'s', 2, 3}},
       {1},
       {.accepted = 9}},
      {"one rank is silent", {{'s', 0, 1}, {'s', 1, 1}, {'w', 4, 0}}, {}, {.accepted = 2}},
      {"it is given up", {{'s', 0, 1}, {'s', 1, 1}, {'w', 5, 0}}, {1}, {.accepted = 2}},
      {"a minority is dropped", {{'s', 0, 1}, {'w', 5, 0}}, {}, {.accepted = 1, .strays = 1}},
      {"it was late",
       {{'s', 0, 1}, {'s', 1, 1}, {'w', 5, 0}, {'s', 2, 1}, {'s', 2, 0}},
       {1},
       {.accepted = 2, .late = 2}},
      {"steps backward",
       {{'e', 0, 2}, {'e', 1, 2}, {'e', 2, 2}, {'e', 2, 1}, {'e', 1, 1}, {'e', 0, 1}},
       {2},
       {.late = 3}},
      {"steps backward in the open",
       {{'e', 0, 2}, {'e', 1, 2}, {'e', 0, 1}, {'e', 1, 1}, {'e', 2, 1}, {'e', 2, 2}},
       {1, 2},
       {}},
      {"a gone rank is not waited for", {{'e', 0, 1}, {'e', 1, 1}, {'x', 2, 0}}, {1}, {}},
      {"and is when it is back", {{'x', 2, 0}, {'b', 2, 0}, {'e', 0, 1}, {'e', 1, 1}}, {}, {}},
      {"nobody lives",
       {{'x', 0, 0}, {'x', 1, 0}, {'x', 2, 0}, {'s', 0, 1}, {'w', 5, 0}},
       {1},
       {.accepted = 1}},
      {"twice the same", {{'s', 0, 1}, {'s', 0, 1}}, {}, {.accepted = 1, .duplicate = 1}},
  };
  return cases;
}

const std::vector<Case>& GarbageCases() {
  static const std::vector<Case> cases = {
      {"the far future moves nobody",
       {{'s', 0, kFar},
        {'e', 0, 1},
        {'e', 1, 1},
        {'e', 2, 1},
        {'e', 0, 2},
        {'e', 1, 2},
        {'e', 2, 2},
        {'w', 5, 0}},
       {1, 2},
       {.accepted = 1, .strays = 1}},
      {"nor does a stray between steps hold them up",
       {{'s', 0, 150},
        {'s', 0, 200},
        {'s', 1, 200},
        {'s', 2, 200},
        {'s', 0, 300},
        {'s', 1, 300},
        {'s', 2, 300},
        {'s', 0, 400},
        {'s', 1, 400},
        {'s', 2, 400}},
       {200},
       {.accepted = 10, .strays = 1}},
      {"a rank opens half of the frames",
       {{'s', 0, 1}, {'s', 0, 2}, {'s', 0, 3}},
       {},
       {.accepted = 2, .ahead = 1},
       4},
      {"a full window gives up the oldest",
       {{'s', 0, 1}, {'s', 1, 1}, {'s', 0, 2}, {'s', 1, 2}, {'s', 1, 3}, {'s', 1, 4}, {'s', 2, 5}},
       {1},
       {.accepted = 7},
       4},
      {"or the farthest of a minority",
       {{'s', 0, kFar}, {'s', 0, kFar + 1}, {'s', 1, kFar + 2}, {'s', 1, kFar + 3}, {'s', 2, 1}},
       {},
       {.accepted = 5, .strays = 1},
       4},
      {"beyond a full window",
       {{'s', 0, 1}, {'s', 0, 2}, {'s', 1, 3}, {'s', 1, 4}, {'s', 2, 5}},
       {},
       {.accepted = 4, .ahead = 1},
       4},
  };
  return cases;
}

void Do(FrameAssembler& assembler, const Deed& deed) {
  switch (deed.what) {
    case 's':
      return assembler.Add(At(deed.rank, deed.step));
    case 'e':
      return assembler.End({.rank = deed.rank, .step = deed.step});
    case 'w':
      return assembler.Advance(std::chrono::seconds(deed.rank));
    default:
      return assembler.SetAlive(deed.rank, deed.what == 'b');
  }
}

void RunCases(const std::vector<Case>& cases) {
  const MetricTable metrics;
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    FrameAssembler assembler(3, metrics, {.open_max = each.open_max});
    for (const Deed& deed : each.deeds) Do(assembler, deed);
    EXPECT_EQ(StepsOf(Take(assembler)), each.closed);
    const AssemblerCounts& counts = assembler.counts();
    EXPECT_EQ(counts.accepted, each.counts.accepted);
    EXPECT_EQ(counts.duplicate, each.counts.duplicate);
    EXPECT_EQ(counts.late, each.counts.late);
    EXPECT_EQ(counts.ahead, each.counts.ahead);
    EXPECT_EQ(counts.strays, each.counts.strays);
  }
}

TEST(FrameAssemblerTest, ClosesFramesAndCounts) { RunCases(WellMeantCases()); }
TEST(FrameAssemblerTest, LetsNoGarbageMoveIt) { RunCases(GarbageCases()); }

TEST(FrameAssemblerTest, RefusesAndCountsGarbage) {
  const MetricTable metrics;
  FrameAssembler assembler(2, metrics);
  assembler.Advance(std::chrono::hours(1));
  for (const std::int32_t rank : {-1, 2, INT32_MIN, INT32_MAX}) {
    assembler.Add(At(rank, 1));
    assembler.End({.rank = rank, .step = 1});
    assembler.SetAlive(rank, false);
  }
  for (const std::int64_t step : {std::int64_t{-1}, INT64_MIN, INT64_MAX})
    assembler.Add(At(0, step));
  for (const MetricId metric : {MetricId{kKnownMetrics}, MetricId{UINT32_MAX}}) {
    assembler.Add(At(0, 1, metric));
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Time time :
       {Time(-1), Time::min(), Time::max(), FromSeconds(nan), FromSeconds(1e300)}) {
    Sample sample = At(0, 1);
    sample.received = time;
    assembler.Add(sample);
    sample.received = Time(0);
    sample.host_time = time;  // of no use here, so of no harm
    sample.step = 2;
    assembler.Add(sample);
  }
  const AssemblerCounts& counts = assembler.counts();
  EXPECT_EQ(counts.bad_rank, 8U);
  EXPECT_EQ(counts.bad_step, 3U);
  EXPECT_EQ(counts.bad_metric, 2U);
  EXPECT_EQ(counts.bad_time, 5U);
  EXPECT_EQ(counts.accepted, 1U);
  EXPECT_EQ(counts.duplicate, 4U);
}

TEST(FrameAssemblerTest, FillsFrames) {
  MetricTable metrics;
  FrameAssembler assembler(2, metrics);
  assembler.Advance(std::chrono::seconds(9));
  const MetricId own = metrics.Add("own");
  assembler.Add(At(1, 7, own));
  assembler.Add(At(0, 7, 2));
  Sample nan = At(1, 7, 2);
  nan.value = kMissing;
  assembler.Add(nan);
  assembler.End({.rank = 0, .step = 7, .steps = 4, .expected_slow = true});
  assembler.End({.rank = 1, .step = 7, .steps = INT32_MAX});
  assembler.End({.rank = 0, .step = 9, .steps = 5});
  assembler.End({.rank = 1, .step = 9, .steps = -5});
  const auto frames = Take(assembler);
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].received, std::chrono::seconds(9));
  EXPECT_TRUE(frames[0].expected_slow);
  EXPECT_FALSE(frames[1].expected_slow);
  EXPECT_EQ(frames[0].steps, 8);  // all there ever were
  EXPECT_EQ(frames[1].steps, 2);  // since the frame before
  ASSERT_EQ(frames[0].columns.size(), 2U);
  EXPECT_EQ(frames[0].columns[0].metric, 2U);
  EXPECT_EQ(frames[0].columns[0].values[0], 702.0F);
  // A NaN is a NaN and not a missing report, whatever its bits.
  EXPECT_TRUE(std::isnan(frames[0].columns[0].values[1]));
  EXPECT_FALSE(IsMissing(frames[0].columns[0].values[1]));
  EXPECT_EQ(frames[0].columns[1].metric, own);
  EXPECT_TRUE(IsMissing(frames[0].columns[1].values[0]));
  EXPECT_EQ(frames[0].columns[1].values[1], 710.0F + static_cast<float>(own));
}

void Shuffle(std::vector<Sample>& samples, std::size_t from, Rng& rng) {
  for (std::size_t i = samples.size() - 1; i > from; --i) {
    std::swap(samples[i], samples[from + rng.Below(i - from + 1)]);
  }
}

// Samples out of order by up to two steps, many of them twice, among garbage of one rank: nothing
// is lost and nothing else gets in.
TEST(FrameAssemblerTest, RestoresOrder) {
  constexpr std::int32_t kWorld = 5;
  constexpr std::int64_t kSteps = 100;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const MetricTable metrics;
    FrameAssembler assembler(kWorld, metrics);
    std::vector<Sample> samples;
    std::uint64_t twice = 0;
    for (std::int64_t step = 0; step < kSteps; step += 2) {
      const std::size_t from = samples.size();
      for (std::int32_t i = 0; i < 2 * kWorld * 3; ++i) {
        const Sample sample =
            At(i % kWorld, step + i / (kWorld * 3), static_cast<MetricId>(i / kWorld % 3));
        samples.push_back(sample);
        if (rng.Below(4) == 0) samples.push_back(sample), ++twice;
      }
      if (rng.Below(3) == 0)
        samples.push_back(At(3, kFar + static_cast<std::int64_t>(rng.Below(9))));
      Shuffle(samples, from, rng);
    }
    std::vector<Frame> frames;
    for (const Sample& sample : samples) {
      assembler.Add(sample);
      for (Frame& frame : Take(assembler)) frames.push_back(std::move(frame));
    }
    assembler.Advance(std::chrono::seconds(5));
    for (Frame& frame : Take(assembler)) frames.push_back(std::move(frame));
    ASSERT_EQ(frames.size(), static_cast<std::size_t>(kSteps));
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const Frame& frame = frames[static_cast<std::size_t>(step)];
      ASSERT_EQ(frame.step, step);
      ASSERT_EQ(frame.columns.size(), 3U);
      for (const Column& column : frame.columns) {
        for (std::int32_t rank = 0; rank < kWorld; ++rank) {
          ASSERT_EQ(column.values[static_cast<std::size_t>(rank)],
                    At(rank, step, column.metric).value);
        }
      }
    }
    EXPECT_GE(assembler.counts().duplicate, twice - assembler.counts().late);
    EXPECT_EQ(assembler.counts().accepted - assembler.counts().strays,
              static_cast<std::uint64_t>(kSteps * kWorld * 3));
  }
}

std::int64_t AnyStep(Rng& rng, std::int64_t now) {
  switch (rng.Below(8)) {
    case 0:
      return static_cast<std::int64_t>((std::uint64_t{rng()} << 32U) | rng());
    case 1:
      return now + 1000;
    default:
      return now + static_cast<std::int64_t>(rng.Below(12)) - 6;
  }
}

// Whatever is sent, steps rise, and every sample is in a frame, still open, or counted.
TEST(FrameAssemblerTest, LosesNoCount) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const MetricTable metrics;
    FrameAssembler assembler(4, metrics, {.open_max = 8, .reorder = 1 + rng.Below(3)});
    std::uint64_t sent = 0;
    std::uint64_t out = 0;
    std::int64_t last = -1;
    const auto drain = [&] {
      for (const Frame& frame : Take(assembler)) {
        ASSERT_GT(frame.step, last);
        last = frame.step;
        for (const Column& column : frame.columns) {
          out += static_cast<std::uint64_t>(
              std::count_if(column.values.begin(), column.values.end(),
                            [](float value) { return !IsMissing(value); }));
        }
      }
    };
    for (int i = 0; i < 20'000; ++i) {
      const auto rank = static_cast<std::int32_t>(rng.Below(6)) - 1;
      const std::int64_t step = AnyStep(rng, i / 40);
      if (rng.Below(30) == 0) assembler.SetAlive(rank, rng.Below(3) != 0);
      if (rng.Below(5) == 0) assembler.End({.rank = 0, .step = step});
      if (rng.Below(50) == 0) assembler.Advance(std::chrono::milliseconds(i));
      assembler.Add({.rank = rank,
                     .metric = static_cast<MetricId>(rng.Below(15)),
                     .step = step,
                     .received = Time(static_cast<std::int64_t>(rng.Below(1000)) - 10)});
      ++sent;
      drain();
    }
    assembler.Advance(std::chrono::hours(1));
    drain();
    const AssemblerCounts& c = assembler.counts();
    // An end of rank 0 has no sample, and may be counted as one that came too late.
    EXPECT_GE(c.accepted + c.duplicate + c.late + c.ahead + c.bad_rank + c.bad_metric + c.bad_step +
                  c.bad_time,
              sent);
    EXPECT_EQ(c.accepted - c.strays, out);
    EXPECT_GT(out, 0U);
  }
}

}  // namespace
}  // namespace ringward::signal
