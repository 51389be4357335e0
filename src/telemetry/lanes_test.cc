// The three lanes with times of the test's choosing: what is summed, what is cut where.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "telemetry/guest/collective_lane.h"
#include "telemetry/guest/metric_lane.h"
#include "telemetry/guest/step_lane.h"

namespace ringward::telemetry {
namespace {

constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kMs = 1'000'000;

/// A segment in plain memory, and the records that were written to it.
class LanesTest : public testing::Test {
 protected:
  LanesTest() : memory_(kSegmentBytes / sizeof(Block)), header_(*new (memory_.data()) Header()) {
    steps_->Attach(segment(), header_, waits_);
    metrics_->Attach(segment(), header_);
    collectives_->Attach(segment(), header_);
  }
  char* segment() { return reinterpret_cast<char*>(memory_.data()); }
  template <typename Record>
  std::vector<Record> Records(std::size_t offset, std::uint64_t count) {
    std::vector<Record> records(count);
    std::memcpy(records.data(), segment() + offset, count * sizeof(Record));
    return records;
  }
  std::vector<StepRecord> Steps() { return Records<StepRecord>(kStepsAt, steps_->records()); }
  std::vector<MetricRecord> Metrics() {
    return Records<MetricRecord>(kMetricsAt, metrics_->records());
  }
  std::vector<CollectiveRecord> Collectives() {
    return Records<CollectiveRecord>(kCollectivesAt, collectives_->records());
  }
  /// Runs steps `first` to `first + count - 1`, each `ns` long, from `now_` on.
  void Run(std::uint64_t first, std::uint64_t count, std::int64_t ns) {
    for (std::uint64_t step = first; step < first + count; ++step) {
      bool wrote = false;
      steps_->Begin(step, now_);
      now_ += ns;
      steps_->End(now_, wrote);
    }
  }

  struct alignas(64) Block {
    char bytes[64];
  };
  std::vector<Block> memory_;
  Header& header_;
  WaitTotals waits_{};
  std::unique_ptr<StepLane> steps_ = std::make_unique<StepLane>();
  std::unique_ptr<MetricLane> metrics_ = std::make_unique<MetricLane>();
  std::unique_ptr<CollectiveLane> collectives_ = std::make_unique<CollectiveLane>();
  std::int64_t now_ = 1'000 * kMs;
};

TEST_F(LanesTest, AStepIsTheSumOfItsPhases) {
  bool wrote = false;
  steps_->Begin(7, now_);
  steps_->EnterPhase(Phase::kData, now_ + 1 * kMs);
  steps_->EnterPhase(Phase::kForward, now_ + 3 * kMs);
  steps_->EnterPhase(Phase::kCommunicate, now_ + 7 * kMs);
  waits_.Add(static_cast<std::size_t>(Phase::kCommunicate), 500);
  EXPECT_TRUE(steps_->End(now_ + 15 * kMs, wrote));
  EXPECT_TRUE(wrote);
  ASSERT_EQ(Steps().size(), 1U);
  const StepRecord r = Steps()[0];
  EXPECT_EQ(r.sequence, 1U);
  EXPECT_EQ(r.step, 7U);
  EXPECT_EQ(r.steps, 1U);
  EXPECT_EQ(r.end_ns, now_ + 15 * kMs);
  EXPECT_EQ(r.total_ns, 15U * kMs);
  EXPECT_EQ(r.longest_ns, 15U * kMs);
  EXPECT_EQ(r.phase_ns[0], 1U * kMs);
  EXPECT_EQ(r.phase_ns[1], 2U * kMs);
  EXPECT_EQ(r.phase_ns[2], 4U * kMs);
  EXPECT_EQ(r.phase_ns[4], 8U * kMs);
  EXPECT_EQ(r.wait_ns[4], 500U);
  EXPECT_EQ(r.flags, (1U << 9) | (1U << 10) | (1U << 12));
}

TEST_F(LanesTest, ThePhaseIsShownBeforeItsTimeIsKnown) {
  steps_->Begin(3, now_);
  steps_->EnterPhase(Phase::kBackward, now_ + 5);
  EXPECT_EQ(header_.step_state.phase, static_cast<std::uint64_t>(Phase::kBackward) | kInStepBit);
  EXPECT_EQ(header_.step_state.phase_since_ns, static_cast<std::uint64_t>(now_ + 5));
  EXPECT_EQ(header_.step_state.step, 3U);
  EXPECT_EQ(header_.step_state.version % 2, 0U);
}

TEST_F(LanesTest, LongStepsHaveARecordEach) {
  Run(0, 100, 2 * kMs);
  EXPECT_EQ(Steps().size(), 100U);
}

TEST_F(LanesTest, ShortStepsAreSummedToAboutARecordAMillisecond) {
  Run(0, 10'000, 50 * kUs);  // half a second
  const auto records = Steps();
  EXPECT_LT(records.size(), 500U);
  EXPECT_GT(records.size(), 120U);
  std::uint64_t steps = 0;
  for (const StepRecord& r : records) {
    steps += r.steps;
    EXPECT_EQ(r.total_ns, r.steps * 50U * kUs);
    EXPECT_EQ(r.longest_ns, 50U * kUs);
  }
  EXPECT_EQ(steps, records.back().step + 1);
}

TEST_F(LanesTest, RanksOfOneSpeedCutAtTheSameSteps) {
  Run(0, 1'000, 60 * kUs);
  for (const StepRecord& r : Steps()) {
    if (r.step < 64) continue;  // still finding its stride
    EXPECT_EQ((r.step + 1) % 16, 0U) << r.step;
  }
}

TEST_F(LanesTest, AfterShortStepsALongOneIsWrittenAtItsEnd) {
  Run(0, 1'000, 50 * kUs);
  const auto before = Steps().size();
  Run(1'000, 1, 100 * kMs);
  ASSERT_EQ(Steps().size(), before + 1);
  EXPECT_EQ(Steps().back().step, 1'000U);
  EXPECT_EQ(Steps().back().longest_ns, 100U * kMs);
}

TEST_F(LanesTest, AJumpOfTheStepNumberEndsARecord) {
  Run(0, 1'000, 50 * kUs);
  steps_->Begin(5'000, now_);
  const auto records = Steps();
  std::uint64_t steps = 0;
  for (const StepRecord& r : records) steps += r.steps;
  EXPECT_EQ(steps, 1'000U);
  EXPECT_EQ(records.back().step, 999U);
}

TEST_F(LanesTest, AStepEndsWhereTheNextBegins) {
  bool wrote = true;
  EXPECT_FALSE(steps_->End(now_, wrote));
  EXPECT_FALSE(wrote);
  EXPECT_FALSE(steps_->Begin(0, now_));
  EXPECT_TRUE(steps_->Begin(1, now_ + 5 * kMs));
  ASSERT_EQ(Steps().size(), 1U);
  EXPECT_EQ(Steps()[0].total_ns, 5U * kMs);
}

TEST_F(LanesTest, ASlowMarkIsOnEveryRecordItTouches) {
  Run(0, 1, 5 * kMs);
  steps_->SetSlow(SlowReason::kCompile, now_);
  EXPECT_EQ((header_.step_state.phase >> kSlowShift) & 0xff, 1U);
  Run(1, 2, 5 * kMs);
  steps_->SetSlow(SlowReason::kNone, now_);
  Run(3, 1, 5 * kMs);
  const auto records = Steps();
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[0].flags & kSlowFlag, 0U);
  EXPECT_EQ(records[1].flags & kSlowFlag, kSlowFlag);
  EXPECT_EQ(records[2].flags & kSlowFlag, kSlowFlag);
  EXPECT_EQ(records[3].flags & kSlowFlag, 0U);
}

TEST_F(LanesTest, PhasesBetweenStepsShowAndCountTowardsNone) {
  steps_->EnterPhase(Phase::kEvaluate, now_);
  EXPECT_EQ(header_.step_state.phase, static_cast<std::uint64_t>(Phase::kEvaluate));
  now_ += 900 * kMs;
  Run(0, 1, 5 * kMs);
  ASSERT_EQ(Steps().size(), 1U);
  EXPECT_EQ(Steps()[0].total_ns, 5U * kMs);
  EXPECT_EQ(Steps()[0].phase_ns[7], 0U);
  EXPECT_EQ(Steps()[0].flags, 1U << 15);
}

TEST_F(LanesTest, WellKnownMetricsHaveTheirNumbers) {
  EXPECT_EQ(header_.metrics, kWellKnownMetrics);
  EXPECT_EQ(metrics_->Register("samples"), static_cast<std::int32_t>(kSamples));
  EXPECT_STREQ(header_.metric_names[kLearningRate], "learning_rate");
}

TEST_F(LanesTest, NamesAreCheckedAndKept) {
  EXPECT_EQ(metrics_->Register("mine"), 4);
  EXPECT_EQ(metrics_->Register("mine"), 4);
  for (const char* const bad : {"", "two words", "new\nline", "caf\xc3\xa9",
                                "a_name_of_more_than_forty_seven_characters_is_too_long"}) {
    EXPECT_EQ(metrics_->Register(bad), -1) << bad;
    EXPECT_EQ(collectives_->Register(bad), -1) << bad;
  }
  EXPECT_EQ(metrics_->Register(nullptr), -1);
  for (int i = 5; i < static_cast<int>(kMetricsMax); ++i) {
    EXPECT_EQ(metrics_->Register(("m" + std::to_string(i)).c_str()), i);
  }
  EXPECT_EQ(metrics_->Register("one_too_many"), -1);
  EXPECT_EQ(metrics_->Register("m77"), 77);
}

TEST_F(LanesTest, PostponedValuesAreSummed) {
  EXPECT_FALSE(metrics_->Postpone(kSamples, 2));
  EXPECT_FALSE(metrics_->Postpone(kSamples, -3));
  EXPECT_FALSE(metrics_->Postpone(kSamples, 5));
  metrics_->FlushPending(now_, 9);
  metrics_->FlushPending(now_, 10);
  ASSERT_EQ(Metrics().size(), 1U);
  const MetricRecord r = Metrics()[0];
  EXPECT_EQ(r.metric, kSamples);
  EXPECT_EQ(r.step, 9U);
  EXPECT_EQ(r.count, 3U);
  EXPECT_EQ(r.sum, 4);
  EXPECT_EQ(r.last, 5);
  EXPECT_EQ(r.min, -3);
  EXPECT_EQ(r.max, 5);
}

TEST_F(LanesTest, TheFirstValueThatIsNotFiniteIsNews) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(metrics_->Postpone(kLocalLoss, 1));
  EXPECT_TRUE(metrics_->Postpone(kLocalLoss, nan));
  metrics_->WriteSum(kLocalLoss, now_, 1);
  EXPECT_FALSE(metrics_->Postpone(kLocalLoss, nan));
  metrics_->FlushPending(now_, 2);
  metrics_->Record(kLocalLoss, 3, now_, 3);
  EXPECT_TRUE(metrics_->Postpone(kLocalLoss, -HUGE_VAL));
  const auto records = Metrics();
  ASSERT_EQ(records.size(), 3U);
  EXPECT_TRUE(std::isnan(records[0].sum));
  EXPECT_EQ(records[0].count, 2U);
  EXPECT_EQ(records[0].min, 1);
  EXPECT_EQ(records[0].max, 1);
  EXPECT_EQ(records[2].sum, 3);
}

TEST_F(LanesTest, ACollectiveShowsItselfAndItsWait) {
  const std::int32_t op = collectives_->Register("allreduce");
  collectives_->Enter(static_cast<std::uint32_t>(op), 41, 2'048, false, now_);
  EXPECT_EQ(header_.collective_state.entered, 1U);
  EXPECT_EQ(header_.collective_state.exited, 0U);
  EXPECT_EQ(header_.collective_state.number, 41U);
  std::uint64_t wait_ns = 0;
  EXPECT_FALSE(collectives_->Exit(40, true, 3, now_, wait_ns));
  EXPECT_TRUE(collectives_->Exit(41, true, 3, now_ + 9, wait_ns));
  EXPECT_EQ(wait_ns, 9U);
  EXPECT_FALSE(collectives_->Exit(41, true, 3, now_, wait_ns));
  ASSERT_EQ(Collectives().size(), 1U);
  const CollectiveRecord r = Collectives()[0];
  EXPECT_EQ(r.enter_ns, now_);
  EXPECT_EQ(r.exit_ns, now_ + 9);
  EXPECT_EQ(r.number, 41U);
  EXPECT_EQ(r.step, 3U);
  EXPECT_EQ(r.bytes, 2'048U);
  EXPECT_EQ(r.count, 1U);
  EXPECT_EQ(r.flags, 0);
}

TEST_F(LanesTest, OverlappedCollectivesAreNoWait) {
  const std::int32_t op = collectives_->Register("allreduce");
  std::uint64_t wait_ns = 1;
  collectives_->Enter(static_cast<std::uint32_t>(op), 1, 8, true, now_);
  collectives_->Enter(static_cast<std::uint32_t>(op), 2, 8, true, now_ + 1);
  EXPECT_TRUE(collectives_->Exit(1, true, 0, now_ + 5, wait_ns));
  EXPECT_EQ(wait_ns, 0U);
  EXPECT_TRUE(collectives_->Exit(2, false, 0, now_ + 7, wait_ns));
  const auto records = Collectives();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1].flags, kOverlappedFlag | kFailedFlag);
  EXPECT_EQ(records[1].inside_ns, 6U);
}

TEST_F(LanesTest, ManyShortCollectivesShareRecordsOfOneKind) {
  const auto sum = static_cast<std::uint32_t>(collectives_->Register("allreduce"));
  const auto barrier = static_cast<std::uint32_t>(collectives_->Register("barrier"));
  std::uint64_t wait_ns = 0;
  for (std::uint64_t n = 0; n < 10'000; ++n) {
    collectives_->Enter(n % 100 == 99 ? barrier : sum, n, 4, false, now_);
    now_ += 20 * kUs;
    ASSERT_TRUE(collectives_->Exit(n, true, n, now_, wait_ns));
  }
  collectives_->Flush();
  const auto records = Collectives();
  EXPECT_LT(records.size(), 600U);
  std::uint64_t count = 0;
  for (const CollectiveRecord& r : records) {
    count += r.count;
    EXPECT_EQ(r.bytes, r.count * 4U);
    EXPECT_EQ(r.operation, r.number % 100 == 99 ? barrier : sum);
  }
  EXPECT_EQ(count, 10'000U);
}

}  // namespace
}  // namespace ringward::telemetry
