// What a training run tells its recorders, read back as a watcher reads it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "comm/local/local_communicator.h"
#include "learn/train/loop.h"
#include "learn/train/recording_observer.h"
#include "telemetry/segment_reader.h"
#include "telemetry/test_folder.h"

namespace ringward::learn {
namespace {

constexpr int kInputs = 4;
constexpr std::size_t kRows = 256;
constexpr std::int64_t kSteps = 40;

struct Recorded {
  telemetry::SegmentBatch batch;
  telemetry::SegmentState state;
  std::map<std::string, std::uint64_t> values;  // of each metric
  double samples = 0;
};

Recorded ReadBack(telemetry::Recorder& recorder) {
  auto reader = telemetry::SegmentReader::Open(recorder.path());
  RINGWARD_CHECK(reader);
  Recorded recorded{*reader->Read(), *reader->State(), {}, 0};
  for (const telemetry::MetricRecord& r : recorded.batch.metrics) {
    recorded.values[reader->MetricName(r.metric)] += r.count;
    if (r.metric == telemetry::kSamples) recorded.samples += r.sum;
  }
  return recorded;
}

/// Trains on `world` ranks with a recorder each, and reads those before they are closed.
std::vector<Recorded> TrainRecorded(int world, const WindowedRows& data, StepOptions step) {
  const telemetry::TestFolder folder;
  std::vector<Recorded> recorded(static_cast<std::size_t>(world));
  comm::RunRanks(world, [&](comm::Communicator& comm) {
    const telemetry::TestRecorder recorder(folder.options(comm.rank(), world));
    RecordingObserver observer(*recorder, nullptr);
    comm.SetObserver(&observer);
    std::vector<std::uint32_t> rows(data.rows());
    std::iota(rows.begin(), rows.end(), 0U);
    auto plan = *Plan::Make({.inputs = kInputs,
                             .layers = {{.width = kInputs, .activation = Activation::kIdentity}},
                             .members = 1},
                            64);
    plan->Initialize(1);
    auto optimizer = *MakeOptimizer({}, plan->parameters().size());
    const Folds folds;
    const LoopContext context{comm, *plan, data, folds, rows, {}, SystemClock()};
    LoopHooks hooks;
    hooks.recorder = &*recorder;
    const auto result =
        TrainLoop(context, *optimizer, {.global_batch = 64, .steps = kSteps, .step = step}, hooks);
    (void)result;
    recorded[static_cast<std::size_t>(comm.rank())] = ReadBack(*recorder);
    comm.SetObserver(nullptr);
  });
  return recorded;
}

WindowedRows RecordingRows() {
  Matrix data(kRows, kInputs);
  Rng rng(3);
  for (std::size_t i = 0; i < kRows; ++i) {
    for (float& value : data.Row(i)) value = static_cast<float>(rng.Normal());
  }
  return WindowedRows(std::move(data), 1, {});
}

/// Steps that stand in records: those after the last record are still being summed up.
std::uint64_t StepsIn(const Recorded& recorded) {
  std::uint64_t steps = 0;
  for (const telemetry::StepRecord& r : recorded.batch.steps) steps += r.steps;
  return steps;
}

TEST(RecordingTest, EveryRankTellsItsStepsPhasesAndCollectives) {
  for (const bool deterministic : {false, true}) {
    const auto ranks = TrainRecorded(2, RecordingRows(), {.deterministic = deterministic});
    for (const Recorded& r : ranks) {
      EXPECT_EQ(r.batch.overwritten + r.batch.malformed, 0U);
      EXPECT_EQ(r.state.dropped_misuse + r.state.dropped_busy, 0U);
      EXPECT_EQ(r.state.step, static_cast<std::uint64_t>(kSteps - 1));
      EXPECT_FALSE(r.state.in_step);
      EXPECT_FALSE(r.state.inside_collective);
      // The parameters' broadcast, an all-reduce a step, and the losses' one an epoch.
      EXPECT_GE(r.state.collectives_entered, static_cast<std::uint64_t>(kSteps) + 2);
      ASSERT_FALSE(r.batch.steps.empty());
      const telemetry::StepRecord& step = r.batch.steps[0];
      for (const auto phase :
           {telemetry::Phase::kData, telemetry::Phase::kForward, telemetry::Phase::kBackward,
            telemetry::Phase::kCommunicate, telemetry::Phase::kOptimizer}) {
        EXPECT_GT(step.phase_ns[static_cast<std::size_t>(phase)], 0U) << static_cast<int>(phase);
      }
      EXPECT_GT(step.wait_ns[static_cast<std::size_t>(telemetry::Phase::kCommunicate)], 0U);
      EXPECT_EQ(r.values.at("local_loss"), StepsIn(r));
      EXPECT_EQ(r.values.at("learning_rate"), StepsIn(r));
      EXPECT_EQ(r.samples, static_cast<double>(StepsIn(r)) * 32);
      EXPECT_EQ(r.values.count("local_gradient_norm"), deterministic ? 0U : 1U);
    }
  }
}

TEST(RecordingTest, ALossThatIsNotFiniteIsToldBeforeTrainingFails) {
  WindowedRows data = RecordingRows();
  Matrix spoilt(kRows, kInputs);
  for (std::size_t i = 0; i < kRows; ++i) {
    data.CopyRow(i, spoilt.Row(i));
    spoilt.Row(i)[0] = std::numeric_limits<float>::infinity();
  }
  const auto ranks = TrainRecorded(1, WindowedRows(std::move(spoilt), 1, {}), {});
  ASSERT_FALSE(ranks[0].batch.metrics.empty());
  bool seen = false;
  for (const telemetry::MetricRecord& r : ranks[0].batch.metrics) {
    seen = seen || (r.metric == telemetry::kLocalLoss && !std::isfinite(r.sum));
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace ringward::learn
