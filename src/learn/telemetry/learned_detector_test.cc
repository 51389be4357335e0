#include "learn/telemetry/learned_detector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "learn/telemetry/telemetry_test_support.h"

namespace ringward::learn {
namespace {

using detect::SmallJob;
using detect::StepNumbers;
using testing::HasSubstr;

const SmallJob kJob{.world = 8, .steps = 600, .seed = 7};

std::vector<signal::Finding> Watch(const std::shared_ptr<const Model>& model,
                                   const detect::Trouble& trouble) {
  detect::DetectOptions options;
  if (model) options.more.push_back(*MakeLearnedKind(model, "model"));
  return detect::Latest(detect::Watch(detect::EventsOf(kJob, trouble), options));
}

/// Rank 3's loss rises and its gradient norm falls, each by less than any rule tells.
void PartLossAndNorm(std::int64_t step, StepNumbers& numbers) {
  if (step < 300 || step >= 500) return;
  numbers.loss[3] *= 1.25F;
  numbers.norm[3] /= 1.25F;
}

TEST(LearnedDetectorTest, FindsWhatNoRuleTells) {
  const auto model = DistanceModel({.world = 8, .steps = 600, .seed = 1});
  EXPECT_TRUE(Watch(nullptr, PartLossAndNorm).empty()) << "no rule tells it";
  const auto findings = Watch(model, PartLossAndNorm);
  ASSERT_EQ(findings.size(), 1U);
  const signal::Finding& finding = findings[0];
  EXPECT_EQ(detect::Brief(finding), "unusual 3");
  EXPECT_STREQ(finding.detector, "learned");
  EXPECT_TRUE(finding.step >= 300 && finding.step <= 330) << finding.step;
  EXPECT_NEAR(static_cast<double>(finding.since_step), 300.0, 5.0);
  EXPECT_TRUE(finding.over);
  EXPECT_THAT(finding.evidence, HasSubstr("loss_vs_others"));
  EXPECT_THAT(finding.evidence, HasSubstr("norm_vs_others"));
}

TEST(LearnedDetectorTest, AHealthyJobIsUnusualNowhere) {
  const auto model = DistanceModel({.world = 8, .steps = 600, .seed = 1});
  EXPECT_TRUE(Watch(model, nullptr).empty());
}

TEST(LearnedDetectorTest, HostileFramesDoNoHarm) {
  const auto model = DistanceModel({.world = 4, .steps = 200, .seed = 1});
  LearnedDetector detector(signal::Topology(4), model);
  detect::FindingSink sink;
  for (std::int64_t step = 0; step < 300; ++step) {
    signal::Frame frame{.step = step};
    const float odd[] = {0.0F, -1.0F, 1e30F, std::nanf(""), INFINITY, signal::kMissing, 1.0F};
    for (std::size_t metric = 0; metric < signal::kKnownMetrics; ++metric) {
      std::vector<float> values;
      for (std::size_t r = 0; r < 5; ++r)
        values.push_back(odd[(static_cast<std::size_t>(step) * 3 + metric + r) % 7]);
      frame.columns.push_back({static_cast<signal::MetricId>(metric), std::move(values)});
    }
    detector.OnFrame(frame, {.frames_per_day = 1000.0, .alarms_per_day = 0.1}, sink);
  }
  detector.Finish({}, sink);
}

TEST(LearnedDetectorTest, RefusesModelsOfSomethingElse) {
  const auto good = DistanceModel({.world = 4, .steps = 200, .seed = 1});
  ASSERT_TRUE(MakeLearnedKind(good, "model"));
  for (const auto& [features, why] : {std::pair{"", "model: is a model of a table"},
                                      std::pair{"telemetry-2", "the features telemetry-2"}}) {
    auto other = std::make_shared<Model>(*good);
    other->features = features;
    const auto kind = MakeLearnedKind(other, "model");
    ASSERT_FALSE(kind);
    EXPECT_EQ(kind.error().code(), Code::kInvalidInput);
    EXPECT_THAT(kind.error().what(), HasSubstr(why));
  }
}

TEST(LearnedDetectorTest, AModelKeepsWhatItsColumnsAre) {
  const auto model = DistanceModel({.world = 4, .steps = 200, .seed = 1});
  const auto files = WriteModelFiles(*model);
  ASSERT_TRUE(files);
  const auto again = ReadModelFiles(*files, "model");
  ASSERT_TRUE(again) << again.error().what();
  EXPECT_EQ(again->features, kTelemetryFeatures);
}

}  // namespace
}  // namespace ringward::learn
