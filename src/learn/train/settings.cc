#include "learn/train/settings.h"

#include "learn/data/data_flags.h"

namespace ringward::learn {
namespace {

void AddModelOptions(OptionTable& table, TrainSettings& s) {
  table.Group("Model");
  table.AddChoice("model", &s.kind, {{"autoencoder", ModelKind::kAutoencoder}},
                  "kind of model: an ensemble of denoising autoencoders with whitened residuals");
  table.Add("hidden", &s.hidden, {.min = 1, .max = 100'000},
            "widths of the encoder's layers; the decoder mirrors them");
  table.AddChoice("activation", &s.activation,
                  {{"relu", Activation::kRelu},
                   {"leaky-relu", Activation::kLeakyRelu},
                   {"tanh", Activation::kTanh},
                   {"sigmoid", Activation::kSigmoid},
                   {"gelu", Activation::kGelu},
                   {"identity", Activation::kIdentity}},
                  "activation of the hidden layers");
  table.Add(
      "noise", &s.noise, {.min = 0.0, .max = 100.0},
      "levels of input noise while training (standard deviations of standardised inputs); none = "
      "0, 0.2 and 0.8");
  table.Add("folds", &s.folds, {.min = 2, .max = 100},
            "nets of each noise level; each leaves out one fold of the rows, which calibrates it");
  table.Add("neighbours", &s.neighbours,
            "let the distance to the nearest of 2,048 stored training rows be part of the score");
  table.Add("dropout", &s.dropout, {.min = 0.0, .max = 1.0, .max_exclusive = true},
            "share of hidden outputs dropped while training");
}

void AddLoopOptions(OptionTable& table, TrainSettings& s) {
  table.Group("Training");
  table.Add("epochs", &s.epochs, {.min = 0.0, .max = 1e6},
            "passes over the rows; 0 = as many as --steps takes");
  table.Add("steps", &s.steps, {.min = 0, .max = 1'000'000'000}, "optimizer steps; 0 = 1500");
  table.Add("batch", &s.batch, {.min = 0, .max = 1'048'576},
            "rows of a step on each rank; 0 = 128 over all ranks");
  table.AddChoice("optimizer", &s.optimizer,
                  {{"adam", OptimizerKind::kAdam},
                   {"adamw", OptimizerKind::kAdamW},
                   {"sgd", OptimizerKind::kSgd}},
                  "update rule");
  table.Add("learning-rate", &s.learning_rate, {.min = 0.0, .max = 100.0, .min_exclusive = true},
            "step size");
  table.Add("momentum", &s.momentum, {.min = 0.0, .max = 1.0, .max_exclusive = true},
            "momentum of sgd");
  table.Add("weight-decay", &s.weight_decay, {.min = 0.0, .max = 1.0}, "shrinks the parameters");
  table.Add("validation", &s.validation, {.min = 0.0, .max = 0.9},
            "share of rows set apart to measure the loss after each epoch");
  table.Add("patience", &s.patience, {.min = 0, .max = 1'000'000},
            "epochs without a better validation loss before training stops; 0 = never");
  table.Add("seed", &s.seed, {.min = 0}, "all randomness follows from it");
  table.Add("deterministic", &s.deterministic,
            "bit-equal weights and scores on 1, 2 and 4 ranks of equal global batch");
  table.Add(
      "balance", &s.balance,
      "slower ranks get fewer rows of each batch: faster on uneven cores, but the last digits "
      "then differ from run to run");
}

void AddAlarmOptions(OptionTable& table, TrainSettings& s) {
  table.Group("Alarms");
  table.Add("false-alarm-rate", &s.false_alarm_rate,
            {.min = 0.0, .max = 1.0, .min_exclusive = true, .max_exclusive = true},
            "share of normal rows that may be called anomalous");
  table.Add("contaminated", &s.contaminated,
            "the training rows may hold anomalies: the largest losses of each batch are ignored");
  table.Add("trim", &s.trim, {.min = 0.0, .max = 0.5},
            "with --contaminated: share of each batch that is ignored");
}

}  // namespace

void AddTrainOptions(OptionTable& table, TrainSettings& settings) {
  AddDataOptions(table, settings.data);
  AddColumnOptions(table, settings.data);
  AddModelOptions(table, settings);
  AddLoopOptions(table, settings);
  AddAlarmOptions(table, settings);
  table.Group("Result");
  table.Add("out", &settings.out, {.what = "a folder"}, "the model's folder")
      .Complete(Completion::kFolder)
      .Required();
}

Status Validate(const TrainSettings& settings) {
  if (settings.hidden.empty()) {
    return Error(Code::kInvalidInput, "--hidden: at least one width is needed");
  }
  if (settings.epochs > 0.0 && settings.steps > 0) {
    return Error(Code::kInvalidInput, "--epochs and --steps exclude each other");
  }
  if (settings.balance && settings.deterministic) {
    return Error(Code::kInvalidInput, "--balance and --deterministic exclude each other");
  }
  if (settings.patience > 0 && settings.validation == 0.0) {
    return Error(Code::kInvalidInput, "--patience needs --validation above 0");
  }
  return Validate(settings.data);
}

}  // namespace ringward::learn
