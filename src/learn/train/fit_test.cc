#include "learn/train/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <string>
#include <vector>

#include "base/rng.h"
#include "comm/local/local_communicator.h"
#include "learn/data/missing.h"
#include "learn/data/test_files.h"
#include "learn/score/metrics.h"

namespace ringward::learn {
namespace {

constexpr std::uint64_t kFitSeed = 21;

/// Rows on a noisy plane; every tenth one, where asked, is off it. A cell is empty with the
/// probability `missing`.
std::string MakeCsv(std::uint64_t seed, int rows, bool anomalies, double missing = 0.0) {
  Rng rng(seed);
  std::string text = "a,b,c,d,label\n";
  for (int i = 0; i < rows; ++i) {
    const double u = rng.Normal();
    const double v = rng.Normal();
    const bool odd = anomalies && i % 10 == 0;
    const double values[] = {u, v, u + v + 0.1 * rng.Normal(),
                             u - v + 0.1 * rng.Normal() + (odd ? 2.0 : 0.0)};
    for (const double x : values) {
      if (missing == 0.0 || rng.Uniform() >= missing) text += std::to_string(x);
      text += ",";
    }
    text += odd ? "1\n" : "0\n";
  }
  return text;
}

TrainSettings Settings(bool deterministic) {
  TrainSettings settings;
  settings.data.label = "label";
  settings.hidden = {16, 8};
  settings.steps = 150;
  settings.batch = 0;
  settings.seed = kFitSeed;
  settings.deterministic = deterministic;
  settings.out = "unused";
  return settings;
}

/// Trains on `world` ranks and returns rank 0's model.
FitResult FitOn(int world, const std::string& path, TrainSettings settings) {
  settings.data.paths = {path};
  auto set = LoadTrainingSet(settings.data, settings.preprocess);
  RINGWARD_CHECK(set);
  std::optional<FitResult> fitted;
  comm::RunRanks(world, [&](comm::Communicator& comm) {
    auto result = Fit(comm, settings, comm.rank() == 0 ? &*set : nullptr, SystemClock());
    ASSERT_TRUE(result) << result.error().what();
    EXPECT_EQ(result->has_value(), comm.rank() == 0);
    if (comm.rank() == 0) fitted = std::move(*result);
  });
  return std::move(*fitted);
}

struct Scored {
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
  std::vector<std::uint8_t> gaps;  ///< 1 where a cell is empty

  /// Share of the normal rows with, or without, an empty cell that score above `threshold`.
  double FalseAlarms(double threshold, bool gap) const {
    double alarms = 0;
    double rows = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (labels[i] != 0 || (gaps[i] != 0) != gap) continue;
      rows += 1;
      alarms += scores[i] > threshold;
    }
    return alarms / rows;
  }
};

Scored ScoreFile(const Model& model, const std::string& path) {
  DataOptions options;
  options.paths = {path};
  options.label = "label";
  auto plan = *MakeScoringPlan(model, 64);
  Scorer scorer(*plan, model.parts, 64);
  auto stream = *ScoringStream::Open(options, model.preprocessor);
  Scored result;
  ScoringBatch batch;
  while (*stream.Next(batch)) {
    std::vector<double> scores(batch.inputs.rows);
    scorer.Score(batch.inputs.values, batch.inputs.rows, scores);
    result.scores.insert(result.scores.end(), scores.begin(), scores.end());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      result.gaps.push_back(AnyMissing(batch.inputs.Row(i)));
    }
    for (const RowLabel label : batch.labels) result.labels.push_back(label == RowLabel::kAnomaly);
  }
  return result;
}

class FitTest : public testing::Test {
 protected:
  TestFolder folder_;
  std::string train_ = folder_.Write("train.csv", MakeCsv(kFitSeed, 600, false));
  std::string test_ = folder_.Write("test.csv", MakeCsv(kFitSeed + 1, 2'000, true));
};

TEST_F(FitTest, FindsRowsOffThePlaneAndKeepsItsFalseAlarmRate) {
  auto settings = Settings(false);
  settings.false_alarm_rate = 0.05;
  const auto fitted = FitOn(2, train_, settings);
  const auto scored = ScoreFile(fitted.model, test_);
  EXPECT_GT(*Auroc(scored.scores, scored.labels), 0.95) << "seed " << kFitSeed;
  EXPECT_NEAR(scored.FalseAlarms(fitted.model.threshold(), false), 0.05, 0.03)
      << "seed " << kFitSeed;
}

TEST_F(FitTest, RowsWithEmptyCellsAreNormalAndFaultsInThemAreFound) {
  for (const double missing : {0.005, 0.05}) {
    auto settings = Settings(false);
    settings.steps = 600;
    settings.false_alarm_rate = 0.05;
    const auto train = folder_.Write("gaps.csv", MakeCsv(kFitSeed, 4'000, false, missing));
    const auto test = folder_.Write("today.csv", MakeCsv(kFitSeed + 1, 8'000, true, missing));
    const auto fitted = FitOn(2, train, settings);
    const auto scored = ScoreFile(fitted.model, test);
    const double threshold = fitted.model.threshold();
    EXPECT_NEAR(scored.FalseAlarms(threshold, false), 0.05, 0.02)
        << missing << " seed " << kFitSeed;
    EXPECT_LT(scored.FalseAlarms(threshold, true), 0.2) << missing << " seed " << kFitSeed;
    EXPECT_GT(*Auroc(scored.scores, scored.labels), 0.93) << missing << " seed " << kFitSeed;
  }
}

TEST_F(FitTest, EmptyCellsOfColumnsThatHadNoneAreFilled) {
  auto settings = Settings(false);
  settings.steps = 600;
  settings.false_alarm_rate = 0.05;
  const auto fitted =
      FitOn(1, folder_.Write("whole.csv", MakeCsv(kFitSeed, 4'000, false)), settings);
  const auto test = folder_.Write("today.csv", MakeCsv(kFitSeed + 1, 8'000, true, 0.05));
  const auto scored = ScoreFile(fitted.model, test);
  EXPECT_LT(scored.FalseAlarms(fitted.model.threshold(), true), 0.2) << "seed " << kFitSeed;
}

TEST_F(FitTest, DeterministicModelsOfRowsWithEmptyCellsAreBitEqualOnAnyNumberOfRanks) {
  auto settings = Settings(true);
  settings.data.window = 2;
  const auto train = folder_.Write("gaps.csv", MakeCsv(kFitSeed, 600, false, 0.03));
  const auto one = *WriteModelFiles(FitOn(1, train, settings).model);
  for (const int world : {2, 4}) {
    const auto many = *WriteModelFiles(FitOn(world, train, settings).model);
    EXPECT_EQ(one.at("weights.safetensors"), many.at("weights.safetensors")) << world;
    EXPECT_EQ(one.at("calibration.safetensors"), many.at("calibration.safetensors")) << world;
  }
}

TEST_F(FitTest, DeterministicModelsAreBitEqualOnAnyNumberOfRanks) {
  const auto one = FitOn(1, train_, Settings(true));
  for (const int world : {2, 4}) {
    const auto many = FitOn(world, train_, Settings(true));
    EXPECT_EQ(one.model.parameters, many.model.parameters) << world;
    EXPECT_EQ(one.model.threshold(), many.model.threshold()) << world;
    EXPECT_EQ(ScoreFile(one.model, test_).scores, ScoreFile(many.model, test_).scores) << world;
  }
}

TEST_F(FitTest, PlainModelsAgreeOnAnyNumberOfRanks) {
  const auto one = ScoreFile(FitOn(1, train_, Settings(false)).model, test_);
  const auto four = ScoreFile(FitOn(4, train_, Settings(false)).model, test_);
  EXPECT_NEAR(*Auroc(one.scores, one.labels), *Auroc(four.scores, four.labels), 0.003);
}

TEST_F(FitTest, AModelFolderGivesTheSameScores) {
  const auto fitted = FitOn(1, train_, Settings(false));
  ASSERT_TRUE(SaveModel(fitted.model, folder_.Path("model")));
  auto loaded = LoadModel(folder_.Path("model"));
  ASSERT_TRUE(loaded) << loaded.error().what();
  EXPECT_EQ(loaded->threshold(), fitted.model.threshold());
  EXPECT_EQ(ScoreFile(*loaded, test_).scores, ScoreFile(fitted.model, test_).scores);
  EXPECT_EQ(loaded->history.rows, 600U);
}

TEST_F(FitTest, ContaminatedRowsAreTrimmed) {
  auto settings = Settings(false);
  settings.contaminated = true;
  settings.data.label = "";
  settings.data.drop = {"label"};
  const auto fitted =
      FitOn(2, folder_.Write("mixed.csv", MakeCsv(kFitSeed + 2, 600, true)), settings);
  const auto scored = ScoreFile(fitted.model, test_);
  EXPECT_GT(*Auroc(scored.scores, scored.labels), 0.8) << "seed " << kFitSeed;
}

TEST_F(FitTest, TooFewRowsAreRefusedOnEveryRank) {
  auto settings = Settings(false);
  settings.data.paths = {folder_.Write("few.csv", MakeCsv(kFitSeed, 5, false))};
  auto set = LoadTrainingSet(settings.data, settings.preprocess);
  ASSERT_TRUE(set) << set.error().what();
  comm::RunRanks(2, [&](comm::Communicator& comm) {
    const auto result = Fit(comm, settings, comm.rank() == 0 ? &*set : nullptr, SystemClock());
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().what(),
              "5 rows to train on, at least 8 are needed (2 for each of 4 folds)");
  });
}

TEST(CheckSizesTest, RefusesWhatCannotBeTrained) {
  struct Case {
    std::size_t rows;
    std::size_t inputs;
    double validation;
    int width;
    std::string what;
    Code code;
  };
  const Case cases[] = {
      {8, 5, 0.5, 16, "", Code::kAborted},
      {7, 5, 0.5, 16, "7 rows to train on, at least 8 are needed", Code::kInvalidInput},
      {100, 1'000'001, 0.5, 16, "1000001 inputs, at most 1000000", Code::kInvalidInput},
      {100, 5, 0.001, 16, "--validation 0.001 of 100 rows sets none apart", Code::kInvalidInput},
      {100, 1'000'000, 0.5, 100'000, "the net needs ", Code::kResource},  // 9.6 TB
  };
  for (const Case& c : cases) {
    TrainSettings settings = Settings(false);
    settings.validation = c.validation;
    settings.patience = 1;
    settings.hidden = {c.width};
    const Status checked = CheckSizes(settings, c.rows, c.inputs, 2);
    ASSERT_EQ(static_cast<bool>(checked), c.what.empty()) << c.rows << " " << c.inputs;
    if (checked) continue;
    EXPECT_TRUE(checked.error().what().starts_with(c.what)) << checked.error().what();
    EXPECT_EQ(checked.error().code(), c.code);
  }
}

}  // namespace
}  // namespace ringward::learn
