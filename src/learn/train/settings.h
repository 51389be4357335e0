#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/result.h"
#include "learn/data/options.h"
#include "learn/data/preprocessor.h"
#include "learn/dense/optimizer.h"
#include "learn/dense/plan.h"

namespace ringward::learn {

enum class ModelKind { kAutoencoder };
enum class OptimizerKind { kSgd, kAdam, kAdamW };

/// Everything `ringward train` does with data; one field per flag, whose range AddTrainOptions
/// says.
struct TrainSettings {
  DataOptions data;
  PreprocessOptions preprocess;
  std::string out;  ///< folder of the model
  ModelKind kind = ModelKind::kAutoencoder;
  std::vector<int> hidden{128, 64};  ///< widths down to the code; the decoder mirrors them
  Activation activation = Activation::kRelu;
  bool neighbours = true;     ///< distance to reference rows is part of the score
  double dropout = 0.0;       ///< of hidden layers
  std::vector<double> noise;  ///< levels of input noise; empty = the recipe's
  int folds = 4;              ///< nets of each level; each leaves out one fold of the rows
  double epochs = 0.0;        ///< passes over the data; 0 = as many as `steps` asks for
  std::int64_t steps = 0;     ///< optimizer steps; 0 = the recipe's number
  int batch = 0;              ///< rows per rank and step; 0 = the recipe's over all ranks
  OptimizerKind optimizer = OptimizerKind::kAdam;
  double learning_rate = 3e-3;  ///< falls to 0 along a cosine
  double momentum = 0.9;        ///< sgd only
  double weight_decay = 0.0;
  double validation = 0.0;  ///< share of rows set apart for a validation loss
  int patience = 0;         ///< epochs without improvement before it stops; 0 = never
  std::uint64_t seed = 0;
  double false_alarm_rate = 0.01;
  bool contaminated = false;  ///< rows may hold anomalies: trim, and train on all labels
  double trim = 0.1;          ///< with contaminated: share of largest losses ignored
  bool deterministic = false;
  bool balance = false;  ///< rows of a batch go to the ranks by their speed, not evenly
  std::chrono::milliseconds collective_timeout{30'000};
};

/// Binds every field to its flag. `table` points into `settings`.
void AddTrainOptions(OptionTable& table, TrainSettings& settings);

/// What no single flag can tell: combinations. kInvalidInput naming the flags.
Status Validate(const TrainSettings& settings);

}  // namespace ringward::learn
