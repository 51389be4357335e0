#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learn/data/preprocessor.h"
#include "learn/dense/plan.h"
#include "learn/score/calibration.h"
#include "learn/score/scorer.h"

namespace ringward::learn {

/// Facts about how a model came to be: shown, never computed with.
struct ModelHistory {
  std::string created_by;  ///< "ringward 0.1.0"
  std::uint64_t seed = 0;
  std::uint64_t rows = 0;  ///< rows trained on
  std::int64_t steps = 0;  ///< optimizer steps
  int world_size = 1;
  std::string engine;
  double train_loss = 0.0;          ///< of the last epoch
  std::string label;                ///< --label while training; empty = none
  std::vector<std::string> normal;  ///< --normal while training
  std::vector<std::string> notes;   ///< what training said about columns
};

/// Everything that scoring needs, as it is stored in a model folder (docs/formats/model.md).
struct Model {
  std::string kind = "autoencoder";
  /// What its columns are: empty, those of a table; else the name of a set of features
  /// ("telemetry-1"), which only the program that computes it can fill in.
  std::string features{};
  NetSpec net;
  std::vector<float> parameters;  ///< flat, as Plan lays them out
  Preprocessor preprocessor;
  ScoreParts parts;
  Calibration calibration;         ///< of logarithms of scores
  double false_alarm_rate = 0.01;  ///< the rate its threshold was made for
  ModelHistory history;

  /// The score above which a row is an alarm, for `rate` in (0, 1).
  double Threshold(double rate) const { return std::exp(calibration.Threshold(rate)); }
  double threshold() const { return Threshold(false_alarm_rate); }
  double PValue(double score) const { return calibration.PValue(std::log(score)); }
};

/// What `format` in model.toml says.
inline constexpr std::string_view kModelFormatName = "ringward-model";
/// The newest format this program writes and reads.
inline constexpr int kModelFormatVersion = 1;

/// File names and bytes of a model folder, e.g. {"model.toml", "..."}.
using ModelFiles = std::map<std::string, std::string>;

/// REQUIRES: a consistent model. The same model gives the same bytes.
Result<ModelFiles> WriteModelFiles(const Model& model);

/// Whether a reader compares checksums; kIgnore lets a fuzzer reach what lies behind them.
enum class Checksums { kVerify, kIgnore };

/// Checks everything: format and version, sizes, checksums, shapes, ranges, finite values.
/// kCorrupt or kInvalidInput naming the file and the reason; `folder` is for messages.
Result<Model> ReadModelFiles(const ModelFiles& files, const std::string& folder,
                             Checksums checksums = Checksums::kVerify);

/// Writes the folder in one step (a broken write leaves nothing or the model that was there).
/// `extra` files (e.g. report.html) come along. kInvalidInput when `folder` holds something else.
Status SaveModel(const Model& model, const std::string& folder, const ModelFiles& extra = {});
Result<Model> LoadModel(const std::string& folder);

/// The error SaveModel would give because of what is at `folder` now, before any work is done.
Status CheckModelFolder(const std::string& folder);

/// The inputs of the net that belong to each column of the data, per row of the window.
FeatureGroups FeaturesOf(const Preprocessor& preprocessor);

/// An input of the net that says whether a cell is missing.
struct Indicator {
  std::size_t input = 0;
  double off = 0.0;  ///< its standardised values, off < on
  double on = 1.0;
};
std::vector<Indicator> IndicatorsOf(const Preprocessor& preprocessor);
/// The same, the inputs only: distances to neighbours ignore them.
std::vector<std::size_t> IndicatorInputs(std::span<const Indicator> indicators);

/// Name of a group of FeaturesOf: the column's, with `[t-2]` for an earlier row of the window.
std::string FeatureName(const Preprocessor& preprocessor, const std::vector<std::size_t>& feature);

/// The cell of a feature as it was read: a text as written, a number by all its digits, `missing`.
std::string SeenCell(const Block& block, std::size_t row, std::size_t slot);

/// Values of a feature's inputs, standardised, as the user writes them: a number, a level, missing.
std::string FeatureValue(const Preprocessor& preprocessor, const std::vector<std::size_t>& feature,
                         std::span<const float> values);

/// Whether the cell reads like what is expected of it: then it explains nothing, however much the
/// score owes to the nets' doubt of it.
bool IsAsExpected(const Preprocessor& preprocessor, const std::vector<std::size_t>& feature,
                  std::span<const float> expected, const Block& block, std::size_t row,
                  std::size_t slot);

/// A plan for scoring with the model's parameters in it.
Result<std::unique_ptr<Plan>> MakeScoringPlan(const Model& model, std::size_t batch_max);

}  // namespace ringward::learn
