#include "learn/telemetry/features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "learn/telemetry/table.h"
#include "learn/telemetry/telemetry_test_support.h"

namespace ringward::learn {
namespace {

using detect::SmallJob;
using detect::StepNumbers;

constexpr std::int64_t kOnset = 200;

std::size_t IndexOf(const std::string& name) {
  const auto& names = TelemetryFeatureNames();
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// Mean of a rank's feature over the steps from the onset on; NaN where it was never told.
double MeanSince(const SmallJob& job, const detect::Trouble& trouble, const std::string& feature,
                 std::size_t rank) {
  TelemetryFeatures features(job.world);
  double sum = 0.0;
  double count = 0.0;
  for (const signal::Event& event : detect::EventsOf(job, trouble)) {
    const auto* frame = std::get_if<signal::Frame>(&event.what);
    if (frame == nullptr || !features.Take(*frame) || frame->step < kOnset) continue;
    const float value = features.row(rank)[IndexOf(feature)];
    if (std::isnan(value)) continue;
    sum += static_cast<double>(value);
    count += 1.0;
  }
  return sum / count;
}

detect::Trouble Since(detect::Trouble trouble) {
  return [trouble = std::move(trouble)](std::int64_t step, StepNumbers& numbers) {
    if (step >= kOnset) trouble(step, numbers);
  };
}

TEST(TelemetryFeaturesTest, EachNumberMovesItsOwn) {
  const SmallJob job{.world = 8, .steps = 240};
  const auto hot = [](std::int64_t step, StepNumbers& numbers) {
    Rng random(3, RngPurpose::kTest, static_cast<std::uint64_t>(step));
    auto& values = numbers.machine[signal::Known::kTemperature];
    for (std::size_t r = 0; r < 8; ++r)
      values.push_back(
          static_cast<float>(60.0 + random.Normal() + (r == 3 && step >= kOnset ? 9 : 0)));
  };
  const struct {
    const char* feature;
    detect::Trouble trouble;
    double rank_min, rank_max;      ///< of rank 3, in usual distances
    double others_min, others_max;  ///< of rank 5
  } rows[] = {
      {"self_vs_others", nullptr, -1, 1, -1, 1},
      {"self_vs_others", Since([](auto, auto& n) { n.compute[3] *= 1.3F; }), 6, 32, -1, 1},
      {"compute_vs_others", Since([](auto, auto& n) { n.compute[3] *= 1.3F; }), 6, 32, -1, 1},
      {"data_vs_others", Since([](auto, auto& n) { n.data[3] *= 3.0F; }), 6, 32, -1, 1},
      {"wait_vs_others", Since([](auto, auto& n) { n.data[3] += 0.2F; }), -32, -6, -1, 1},
      {"step_vs_past", Since([](auto, auto& n) { n.transfer *= 2.0F; }), 4, 32, 4, 32},
      {"transfer_vs_past", Since([](auto, auto& n) { n.transfer *= 2.0F; }), 4, 32, 4, 32},
      {"loss_vs_others", Since([](auto, auto& n) { n.loss[3] *= 1.3F; }), 6, 32, -1, 1},
      {"norm_vs_others", Since([](auto, auto& n) { n.norm[3] /= 1.3F; }), -32, -4, -1, 1},
      {"memory_vs_past", Since([](auto, auto& n) { n.memory[3] *= 1.1F; }), 4, 40, -1, 1},
      {"temperature_vs_past", hot, 4, 32, -1, 1},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.feature);
    const double guilty = MeanSince(job, row.trouble, row.feature, 3);
    EXPECT_TRUE(guilty >= row.rank_min && guilty <= row.rank_max) << guilty;
    const double other = MeanSince(job, row.trouble, row.feature, 5);
    EXPECT_TRUE(other >= row.others_min && other <= row.others_max) << other;
  }
  EXPECT_TRUE(std::isnan(MeanSince(job, nullptr, "temperature_vs_past", 3))) << "nobody tells it";
}

// A model of one job is to fit another: what is usual there is usual here.
TEST(TelemetryFeaturesTest, AreTheSameForJobsOfAnyPaceAndNoise) {
  for (const SmallJob& job :
       {SmallJob{.steps = 400}, SmallJob{.steps = 400, .step_seconds = 0.02},
        SmallJob{.steps = 400, .cv = 0.06}, SmallJob{.steps = 400, .steady_spread = 0.1}}) {
    const Block rows = RowsOf(job);
    const std::size_t self = IndexOf("self_vs_others");
    double square = 0.0;
    for (std::size_t r = 0; r < rows.rows; ++r) square += std::pow(rows.Number(r, self), 2);
    const double deviation = std::sqrt(square / static_cast<double>(rows.rows));
    EXPECT_TRUE(deviation > 1.0 && deviation < 2.5) << deviation << " at " << job.step_seconds;
  }
}

TEST(TelemetryTableTest, LeavesOutTheStepsOfIncidents) {
  const SmallJob job{.world = 4, .steps = 500};
  const auto events = detect::EventsOf(job);
  TelemetryTable table(1'000'000);
  signal::Cause cause{.id = 1, .confidence = 0.9, .since_step = 240};
  for (const signal::Event& event : events) {
    const auto* frame = std::get_if<signal::Frame>(&event.what);
    const std::int64_t step = frame == nullptr ? -1 : frame->step;
    cause.over = step == 300;
    const bool changes = step == 250 || step == 300;
    table.Take(event, changes ? std::span<const signal::Cause>(&cause, 1)
                              : std::span<const signal::Cause>());
  }
  // From 32 before it began (208) to 64 after it was over.
  EXPECT_EQ(table.steps_left_out(), 300U - 208U + 64U);
  EXPECT_EQ(table.Finish("job").rows, 4U * (500U - 64U - (300U - 208U + 64U)));
}

TEST(TelemetryTableTest, KeepsWhatFitsSpreadOverTheRun) {
  TelemetryTable table(1000);
  for (const signal::Event& event : detect::EventsOf({.world = 4, .steps = 2000}))
    table.Take(event, {});
  const Block rows = table.Finish("job");
  EXPECT_LE(rows.rows, 1000U);
  EXPECT_GT(rows.rows, 400U);
}

}  // namespace
}  // namespace ringward::learn
