#include "ringward/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/exit_code.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/system_error.h"
#include "io/atomic_file.h"
#include "learn/data/data_flags.h"
#include "learn/data/table.h"
#include "ringward/score_stream.h"

namespace ringward::cli {
namespace {

constexpr std::size_t kReasons = 3;
constexpr std::size_t kTopRows = 20;
constexpr std::size_t kTopFeatures = 12;

/// Inserts `row` where it belongs if it is among the highest so far.
void KeepTop(std::vector<TopRow>& top, const ScoredRow& row) {
  if (top.size() == kTopRows && row.score <= top.back().score) return;
  const auto at = std::upper_bound(top.begin(), top.end(), row.score,
                                   [](double score, const TopRow& t) { return score > t.score; });
  std::vector<std::string> reasons;
  for (const Reason& reason : row.reasons) reasons.push_back(reason.Text());
  top.insert(at, {row.row, row.score, row.p_value, row.label, std::move(reasons)});
  if (top.size() > kTopRows) top.pop_back();
}

std::vector<report::FeatureShare> TopFeatures(const learn::Model& model,
                                              const ScoreStream& stream) {
  const auto& shares = stream.alarm_shares();
  double sum = 0.0;
  std::vector<report::FeatureShare> features;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    sum += shares[i];
    features.push_back({learn::FeatureName(model.preprocessor, stream.features()[i]), shares[i]});
  }
  if (!(sum > 0.0)) return {};
  for (auto& feature : features) feature.share /= sum;
  std::stable_sort(features.begin(), features.end(),
                   [](const auto& a, const auto& b) { return a.share > b.share; });
  if (features.size() > kTopFeatures) features.resize(kTopFeatures);
  return features;
}

/// The column of a file of scores or labels: the one called `name`, or the only one.
Result<std::size_t> SlotOf(const learn::Table& table, const std::string& name) {
  const auto* column = table.schema.Find(name);
  if (column == nullptr && table.schema.columns.size() == 1) column = &table.schema.columns[0];
  if (column != nullptr) return column->slot;
  return Error(Code::kInvalidInput,
               table.schema.file + ": no column is called \"" + name + "\"; --label names another");
}

}  // namespace

SubcommandInfo EvaluateCommand::Info() const {
  return {.path = "evaluate",
          .group = "Models",
          .summary = "measure a model's scores against labels",
          .details =
              "Prints AUROC, AUPRC, and precision, recall and false-alarm rate at the "
              "threshold, each with a bootstrap interval and with what random scores would "
              "get. Works on a model and data, or on files of scores and labels.",
          .example =
              "ringward evaluate --model model --data test.csv --label attack --normal normal\n"
              "ringward evaluate --scores scores.csv --labels truth.csv",
          .exit_codes = {}};
}

void EvaluateCommand::AddOptions(OptionTable& table) {
  table.Group("Model");
  table.Add("model", &model_, {.what = "a folder", .allow_empty = true}, "the model's folder")
      .Complete(Completion::kFolder);
  learn::AddDataOptions(table, data_, learn::DataFlag::kOptional);
  table
      .Add("kind", &data_.kind, {.what = "a column", .allow_empty = true},
           "column that names the kind of anomaly; none = the label's values")
      .Metavar("COL");
  table.Group("Files of scores");
  table
      .Add("scores", &scores_, {.what = "a file", .allow_empty = true},
           "file with a column score, one row a line")
      .Complete(Completion::kFile);
  table
      .Add("labels", &labels_, {.what = "a file", .allow_empty = true},
           "file with the labels of the same rows (column --label, or the only one)")
      .Complete(Completion::kFile);
  table.Add("threshold", &threshold_, "score above which a row is an alarm; none = the model's");
  table.Group("Figures");
  table.Add("false-alarm-rate", &false_alarm_rate_,
            {.min = 0.0, .max = 1.0, .min_exclusive = true, .max_exclusive = true},
            "take the model's threshold for this rate; none = the model's rate");
  table.Add("resamples", &resamples_, {.min = 0, .max = 100'000},
            "bootstrap samples behind the intervals; 0 = no intervals");
  table.Add("seed", &seed_, {.min = 0}, "of the bootstrap");
  table
      .Add("out", &out_, {.what = "a folder", .allow_empty = true},
           "folder for report.html; none = the folder evaluation inside the model's")
      .Complete(Completion::kFolder);
}

Status EvaluateCommand::Validate(const OptionTable& given) const {
  const bool files = !scores_.empty() || !labels_.empty();
  if (files && (scores_.empty() || labels_.empty())) {
    return Error(Code::kInvalidInput, "--scores and --labels go together");
  }
  if (files == !model_.empty()) {
    return Error(Code::kInvalidInput, "give either --model and --data, or --scores and --labels");
  }
  for (const char* option : {"data", "kind", "false-alarm-rate"}) {
    if (!files || !given.WasSet(option)) continue;
    return Error(Code::kInvalidInput,
                 fmt::format("--{} goes with --model, not with --scores", option));
  }
  if (files && scores_ == "-" && labels_ == "-") {
    return Error(Code::kInvalidInput,
                 "--scores and --labels: standard input can be read only once");
  }
  if (!files && data_.paths.empty()) return Error(Code::kInvalidInput, "--model needs --data");
  std::error_code error;
  if (!out_.empty() && std::filesystem::exists(out_ + "/model.toml", error)) {
    return Error(
        Code::kInvalidInput,
        out_ + ": is a model folder, whose report this would replace; choose another name");
  }
  return Ok();
}

Result<Evaluation> EvaluateCommand::FromModel(Context& context) {
  RINGWARD_ASSIGN(const learn::Model model, learn::LoadModel(model_));
  if (data_.label.empty()) data_.label = model.history.label;
  if (data_.normal.empty()) data_.normal = model.history.normal;
  Evaluation evaluation{.subject = model_ + " on " + data_.paths.front()};
  evaluation.false_alarm_rate = false_alarm_rate_.value_or(model.false_alarm_rate);
  RINGWARD_ASSIGN(auto stream,
                  ScoreStream::Open(model, data_,
                                    {.reasons = kReasons,
                                     .reasons_for_anomalies_only = true,
                                     .false_alarm_rate = *evaluation.false_alarm_rate}));
  if (stream.schema().WithRole(learn::Role::kLabel) == nullptr) {
    return Error(Code::kInvalidInput,
                 stream.schema().file + ": has no labels; --label names their column");
  }
  evaluation.threshold = threshold_.value_or(stream.threshold());
  const InterruptScope interruptible;
  Progress progress(context.common.progress_style(), SystemClock(), "evaluate", "rows", 0);
  const auto sink = [&](const ScoredRow& row) -> Status {
    if (InterruptRequested()) return Error(Code::kInterrupted, "interrupted while evaluating");
    if (row.truth == learn::RowLabel::kMissing) {
      ++evaluation.unlabelled;
      return Ok();
    }
    evaluation.scores.push_back(row.score);
    evaluation.labels.push_back(row.truth == learn::RowLabel::kAnomaly ? 1 : 0);
    evaluation.kinds.push_back(data_.kind.empty() ? row.label : row.ids.back());
    KeepTop(evaluation.top_rows, row);
    return Ok();
  };
  RINGWARD_TRY(stream.Run(sink, [&] {
    progress.Update({.done = stream.rows()});
    return Ok();
  }));
  if (InterruptRequested()) return Error(Code::kInterrupted, "interrupted while evaluating");
  evaluation.top_features = TopFeatures(model, stream);
  evaluation.warnings = stream.Warnings();
  return evaluation;
}

Result<Evaluation> EvaluateCommand::FromScores() const {
  learn::DataOptions options = data_;
  options.label = "";
  options.paths = {scores_};
  RINGWARD_ASSIGN(const auto scores, learn::LoadTable(options, learn::Purpose::kScore));
  options.paths = {labels_};
  RINGWARD_ASSIGN(const auto labels, learn::LoadTable(options, learn::Purpose::kScore));
  RINGWARD_ASSIGN(const std::size_t score_slot, SlotOf(scores, "score"));
  RINGWARD_ASSIGN(const std::size_t label_slot,
                  SlotOf(labels, data_.label.empty() ? "label" : data_.label));
  if (scores.rows != labels.rows) {
    return Error(Code::kInvalidInput, labels_ + ": has " + std::to_string(labels.rows) +
                                          " rows where " + scores_ + " has " +
                                          std::to_string(scores.rows));
  }
  Evaluation evaluation{.subject = scores_};
  evaluation.threshold = threshold_;
  const learn::NormalValues normal(data_.normal);
  for (const auto& block : labels.blocks) {
    for (const auto label : learn::LabelsOf(block, label_slot, normal)) {
      if (label == learn::RowLabel::kMissing) {
        return Error(Code::kInvalidInput, labels_ + ": a row has no label");
      }
      evaluation.labels.push_back(label == learn::RowLabel::kAnomaly ? 1 : 0);
    }
    for (std::size_t i = 0; i < block.rows; ++i)
      evaluation.kinds.push_back(block.Text(i, label_slot));
  }
  for (const auto& block : scores.blocks) {
    for (std::size_t i = 0; i < block.rows; ++i) {
      const double score = block.Number(i, score_slot);
      if (std::isnan(score)) {
        return Error(Code::kInvalidInput, block.Where(i) + ": the score is not a number");
      }
      evaluation.scores.push_back(score);
    }
  }
  return evaluation;
}

std::string EvaluateCommand::Folder() const {
  return out_.empty() && !model_.empty() ? model_ + "/evaluation" : out_;
}

Status EvaluateCommand::WritePage(const std::string& page) const {
  const std::string folder = Folder();
  std::error_code error;
  const bool made = std::filesystem::create_directories(folder, error);
  if (error) return SystemError(folder + ": cannot create", error.value());
  Status written = io::WriteFileAtomically(folder + "/report.html", page);
  if (!written && made) std::filesystem::remove(folder, error);
  return written;
}

Result<int> EvaluateCommand::Run(Context& context) {
  RINGWARD_TRY(Validate(context.options));
  RINGWARD_ASSIGN(const Evaluation evaluation, model_.empty() ? FromScores() : FromModel(context));
  RINGWARD_ASSIGN(const Measured measured, Measure(evaluation, {.threshold = evaluation.threshold,
                                                                .resamples = resamples_,
                                                                .seed = seed_}));
  const std::string folder = Folder();
  if (!folder.empty()) RINGWARD_TRY(WritePage(EvaluationPage(evaluation, measured)));
  for (const auto& warning : evaluation.warnings) LogWarning(warning);
  if (context.common.json) {
    Json document = EvaluationJson(evaluation, measured);
    if (!folder.empty()) document["report"] = folder + "/report.html";
    context.out.WriteJson(document);
    return kExitFine;
  }
  context.out.Write(EvaluationText(evaluation, measured));
  if (!folder.empty()) context.out.Print("\nreport: {}/report.html\n", folder);
  return kExitFine;
}

}  // namespace ringward::cli
