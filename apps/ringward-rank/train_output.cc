#include "ringward-rank/train_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "learn/score/histogram.h"
#include "learn/train/recipe.h"
#include "report/train_report.h"

namespace ringward::rank {
namespace {

using cli::Json;

/// Epochs that are written out; of longer runs evenly spaced ones, the last among them, and the one
/// whose parameters were kept.
constexpr std::size_t kEpochsShown = 500;

/// Whether early stopping kept the parameters of `epoch`: the loop copies its loss, so they are
/// equal.
bool IsBest(const learn::EpochRecord& epoch, const learn::LoopResult& loop) {
  return epoch.validation_loss == loop.best_validation_loss;
}

bool HasValidation(const learn::EpochRecord& epoch) { return std::isfinite(epoch.validation_loss); }

/// Rows that a net leaves out are its validation rows, unless some were set apart; NaN = neither.
double HeldOutLoss(const learn::EpochRecord& epoch) {
  return HasValidation(epoch) ? epoch.validation_loss : epoch.left_out_loss;
}

const char* HeldOutRows(const learn::EpochRecord& epoch) {
  return HasValidation(epoch) ? "validation rows" : "rows left out";
}

std::vector<learn::EpochRecord> ShownEpochs(const learn::LoopResult& loop) {
  const std::size_t count = loop.epochs.size();
  std::vector<learn::EpochRecord> shown;
  const std::size_t stride = (count + kEpochsShown - 1) / kEpochsShown;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& epoch = loop.epochs[i];
    if ((count - 1 - i) % stride == 0 || IsBest(epoch, loop)) shown.push_back(epoch);
  }
  return shown;
}

Json EpochJson(const learn::EpochRecord& epoch) {
  return {{"epoch", epoch.epoch + 1},
          {"steps", epoch.steps},
          {"train_loss", epoch.train_loss},
          {"left_out_loss", epoch.left_out_loss},
          {"validation_loss", epoch.validation_loss},
          {"learning_rate", epoch.learning_rate},
          {"rows_per_second", epoch.rows_per_second}};
}

std::vector<report::Fact> OptionFacts(const learn::TrainSettings& settings) {
  OptionTable table;
  learn::TrainSettings copy = settings;
  learn::AddTrainOptions(table, copy);
  std::vector<report::Fact> facts;
  for (const Option& option : table.options()) {
    const auto texts = option.codec().texts();
    if (texts.empty() || texts.front().empty()) continue;  // not given
    facts.push_back({option.flag(), fmt::format("{}", fmt::join(texts, " "))});
  }
  return facts;
}

std::vector<report::EpochLoss> EpochLosses(const learn::LoopResult& loop) {
  std::vector<report::EpochLoss> losses;
  for (const auto& epoch : ShownEpochs(loop)) {
    const double held_out = HeldOutLoss(epoch);
    losses.push_back({epoch.epoch + 1, epoch.train_loss,
                      std::isfinite(held_out) ? std::optional<double>(held_out) : std::nullopt});
  }
  return losses;
}

std::size_t Dropped(const learn::Preprocessor& preprocessor) {
  const auto& columns = preprocessor.columns();
  return static_cast<std::size_t>(std::count_if(columns.begin(), columns.end(), [](const auto& c) {
    return c.kind == learn::ColumnKind::kDropped;
  }));
}

}  // namespace

std::vector<std::string> TrainWarnings(const TrainOutcome& outcome) {
  std::vector<std::string> warnings;
  const auto& model = outcome.fitted.model;
  auto calibration = model.calibration.Warning(model.false_alarm_rate);
  if (!calibration.empty()) warnings.push_back(std::move(calibration));
  if (outcome.settings.contaminated) {
    warnings.push_back(
        "the training rows may hold anomalies, which raise the threshold: the realised false-alarm "
        "rate will be below the one asked for");
  }
  return warnings;
}

Json TrainJson(const TrainOutcome& outcome) {
  const auto& [settings, set, fitted, ranks, engine] = outcome;
  Json epochs = Json::array();
  for (const auto& epoch : ShownEpochs(fitted.loop)) epochs.push_back(EpochJson(epoch));
  return {{"model", settings.out},
          {"report", settings.out + "/report.html"},
          {"rows", fitted.model.history.rows},
          {"columns", set.preprocessor.columns().size()},
          {"columns_dropped", Dropped(set.preprocessor)},
          {"inputs", set.preprocessor.inputs()},
          {"members", fitted.model.net.members},
          {"parameters", fitted.model.parameters.size()},
          {"ranks", ranks},
          {"engine", engine},
          {"global_batch", learn::GlobalBatchOf(settings, ranks)},
          {"steps", fitted.loop.steps},
          {"stopped_early", fitted.loop.stopped_early},
          {"seconds", fitted.loop.seconds},
          {"rows_per_second", fitted.loop.rows_per_second},
          {"train_loss", fitted.loop.epochs.back().train_loss},
          {"calibration",
           {{"rows", fitted.model.calibration.size()},
            {"false_alarm_rate", fitted.model.false_alarm_rate},
            {"threshold", fitted.model.threshold()}}},
          {"epochs", std::move(epochs)},
          {"notes", set.notes},
          {"warnings", TrainWarnings(outcome)}};
}

std::string TrainText(const TrainOutcome& outcome) {
  const auto& [settings, set, fitted, ranks, engine] = outcome;
  const auto& loop = fitted.loop;
  const auto& last = loop.epochs.back();
  std::string text;
  text += fmt::format(
      "trained    {} rows x {} inputs, {} nets, {} steps on {} rank{} ({}) in {:.1f} s\n",
      fitted.model.history.rows, set.preprocessor.inputs(), fitted.model.net.members, loop.steps,
      ranks, ranks == 1 ? "" : "s", engine, loop.seconds);
  text += fmt::format("loss       {:.4g} on rows learned from", last.train_loss);
  if (std::isfinite(HeldOutLoss(last))) {
    text += fmt::format(", {:.4g} on {}", HeldOutLoss(last), HeldOutRows(last));
  }
  text += loop.stopped_early ? " (stopped early)\n" : "\n";
  text += fmt::format(
      "threshold  {:.4g} for a false-alarm rate of {:g}, from {} calibration rows\n",
      fitted.model.threshold(), fitted.model.false_alarm_rate, fitted.model.calibration.size());
  for (const auto& warning : TrainWarnings(outcome)) text += "warning    " + warning + "\n";
  text += fmt::format("model      {}\nreport     {}/report.html\n", settings.out, settings.out);
  return text;
}

std::string TrainReportPage(const TrainOutcome& outcome) {
  const auto& [settings, set, fitted, ranks, engine] = outcome;
  report::TrainReport page{.subtitle = settings.out, .options = OptionFacts(settings)};
  page.data = {{"files", fmt::format("{}", fmt::join(settings.data.paths, " "))},
               {"rows trained on", fmt::format("{}", fitted.model.history.rows)},
               {"columns", fmt::format("{}", set.preprocessor.columns().size())},
               {"columns dropped", fmt::format("{}", Dropped(set.preprocessor))},
               {"inputs of the nets", fmt::format("{}", set.preprocessor.inputs())},
               {"nets", fmt::format("{}", fitted.model.net.members)}};
  for (const auto& warning : TrainWarnings(outcome)) {
    page.notes.push_back({report::Severity::kWarning, warning});
  }
  for (const auto& note : set.notes) page.notes.push_back({report::Severity::kInfo, note});
  page.epochs = EpochLosses(fitted.loop);
  page.held_out_rows = HeldOutRows(fitted.loop.epochs.back());
  const learn::LoopResult& loop = fitted.loop;
  const auto best = std::find_if(loop.epochs.begin(), loop.epochs.end(),
                                 [&](const auto& epoch) { return IsBest(epoch, loop); });
  if (best != loop.epochs.end()) page.best_epoch = best->epoch + 1;
  page.calibration = {.rows = fitted.model.calibration.size(),
                      .threshold = fitted.model.threshold(),
                      .false_alarm_rate = fitted.model.false_alarm_rate};
  if (auto bins = learn::MakeScoreHistogram(fitted.training_scores, {})) {
    page.scores = report::ScoreBins{bins->edges, bins->normal, bins->anomaly, bins->log_axis};
  }
  page.rows = fitted.model.history.rows;
  page.features = set.preprocessor.inputs();
  page.ranks = ranks;
  page.seconds = fitted.loop.seconds;
  page.rows_per_second = fitted.loop.rows_per_second;
  page.timing = {{"engine", engine}, {"training", fmt::format("{:.2f} s", fitted.loop.seconds)}};
  page.json = cli::DumpJson(TrainJson(outcome));
  return report::Render(page);
}

}  // namespace ringward::rank
