#include "ringward/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/table_printer.h"
#include "learn/score/histogram.h"

namespace ringward::cli {
namespace {

/// Kinds beyond this are a long tail that nobody reads.
constexpr std::size_t kKindsMax = 60;

struct NamedFigure {
  const char* key;
  const char* name;
  const char* meaning;
  std::optional<learn::Figure> figure;
  bool percent;
};

std::vector<NamedFigure> Figures(const learn::Quality& quality) {
  std::vector<NamedFigure> figures{
      {"auroc", "AUROC", "chance that an anomaly outscores a normal row", quality.auroc, false},
      {"auprc", "AUPRC", "average precision over all thresholds", quality.auprc, false}};
  if (!quality.at_threshold) return figures;
  const auto& alarms = *quality.at_threshold;
  figures.push_back(
      {"precision", "precision", "share of alarms that are anomalies", alarms.precision, true});
  figures.push_back({"recall", "recall", "share of anomalies that alarm", alarms.recall, true});
  figures.push_back({"false_alarm_rate", "false-alarm rate", "share of normal rows that alarm",
                     alarms.false_alarm_rate, true});
  return figures;
}

/// Without resamples there is no interval: null.
Json FigureJson(const learn::Figure& figure, int resamples) {
  const auto end = [&](double x) { return resamples > 0 ? Json(x) : Json(); };
  return {{"value", figure.value},
          {"low", end(figure.low)},
          {"high", end(figure.high)},
          {"random", figure.random}};
}

std::string Format(double value, bool percent) {
  return percent ? fmt::format("{:.2f} %", 100.0 * value) : fmt::format("{:.4f}", value);
}

}  // namespace

Result<Measured> Measure(const Evaluation& evaluation, const learn::QualityOptions& options) {
  Measured measured;
  RINGWARD_ASSIGN(measured.quality,
                  learn::MeasureQuality(evaluation.scores, evaluation.labels, options));
  RINGWARD_ASSIGN(measured.curve, learn::QualityCurve(evaluation.scores, evaluation.labels));
  if (!evaluation.kinds.empty() && evaluation.threshold) {
    RINGWARD_ASSIGN(measured.kinds, learn::QualityByKind(evaluation.scores, evaluation.labels,
                                                         evaluation.kinds, *evaluation.threshold));
    std::stable_sort(measured.kinds.begin(), measured.kinds.end(),
                     [](const auto& a, const auto& b) { return a.rows > b.rows; });
    if (measured.kinds.size() > kKindsMax) measured.kinds.resize(kKindsMax);
  }
  return measured;
}

Json EvaluationJson(const Evaluation& evaluation, const Measured& measured) {
  const auto& quality = measured.quality;
  Json json{{"subject", evaluation.subject},    {"rows", quality.rows},
            {"anomalies", quality.anomalies},   {"unlabelled", evaluation.unlabelled},
            {"prevalence", quality.prevalence}, {"confidence", quality.confidence},
            {"resamples", quality.resamples}};
  if (evaluation.false_alarm_rate)
    json["false_alarm_rate_requested"] = *evaluation.false_alarm_rate;
  if (quality.at_threshold) {
    json["threshold"] = quality.at_threshold->threshold;
    json["alarms"] = quality.at_threshold->alarms;
    json["found"] = quality.at_threshold->found;
    json["false_alarms"] = quality.at_threshold->false_alarms;
  }
  for (const auto& f : Figures(quality))
    json[f.key] = f.figure ? FigureJson(*f.figure, quality.resamples) : Json();
  Json kinds = Json::array();
  for (const auto& kind : measured.kinds) {
    kinds.push_back({{"kind", kind.kind},
                     {"rows", kind.rows},
                     {"found", kind.found},
                     {"recall", kind.recall},
                     {"auroc", kind.auroc}});
  }
  json["kinds"] = std::move(kinds);
  Json features = Json::array();
  for (const auto& f : evaluation.top_features) {
    features.push_back({{"feature", f.feature}, {"share", f.share}});
  }
  json["top_features"] = std::move(features);
  json["warnings"] = evaluation.warnings;
  return json;
}

std::string EvaluationText(const Evaluation& evaluation, const Measured& measured) {
  const auto& quality = measured.quality;
  std::string text = fmt::format("{}: {} rows, {} anomalies ({:.2f} %)\n\n", evaluation.subject,
                                 quality.rows, quality.anomalies, 100.0 * quality.prevalence);
  TablePrinter table({{"figure"},
                      {"value", Align::kRight},
                      {fmt::format("{:.0f} % interval", 100.0 * quality.confidence), Align::kRight},
                      {"random scores", Align::kRight},
                      {"what it is"}});
  for (const auto& f : Figures(quality)) {
    if (!f.figure) {
      table.AddRow({f.name, "-", "-", "-", "no row alarms"});
      continue;
    }
    table.AddRow({f.name, Format(f.figure->value, f.percent),
                  quality.resamples == 0 ? "-"
                                         : Format(f.figure->low, f.percent) + " - " +
                                               Format(f.figure->high, f.percent),
                  Format(f.figure->random, f.percent), f.meaning});
  }
  text += table.ToString();
  if (quality.at_threshold) {
    text += fmt::format("\n{} alarms at threshold {:.4g}: {} anomalies found, {} false alarms",
                        quality.at_threshold->alarms, quality.at_threshold->threshold,
                        quality.at_threshold->found, quality.at_threshold->false_alarms);
    if (evaluation.false_alarm_rate) {
      text +=
          fmt::format(" ({:.2f} times the rate of {:g} asked for)",
                      quality.at_threshold->false_alarm_rate.value / *evaluation.false_alarm_rate,
                      *evaluation.false_alarm_rate);
    }
    text += "\n";
  }
  if (measured.kinds.empty()) return text;
  TablePrinter kinds({{"kind"},
                      {"rows", Align::kRight},
                      {"found", Align::kRight},
                      {"recall", Align::kRight},
                      {"AUROC", Align::kRight}});
  for (const auto& kind : measured.kinds) {
    kinds.AddRow({kind.kind, fmt::format("{}", kind.rows), fmt::format("{}", kind.found),
                  Format(kind.recall, true), Format(kind.auroc, false)});
  }
  return text + "\n" + kinds.ToString();
}

std::string EvaluationPage(const Evaluation& evaluation, const Measured& measured) {
  const auto& quality = measured.quality;
  report::EvaluateReport page{.subtitle = evaluation.subject,
                              .rows = quality.rows,
                              .anomalies = quality.anomalies,
                              .confidence = quality.confidence,
                              .resamples = quality.resamples,
                              .top_features = evaluation.top_features};
  for (const auto& f : Figures(quality)) {
    report::QualityFigure figure{.name = f.name, .meaning = f.meaning, .percent = f.percent};
    if (f.figure) {
      figure.value = f.figure->value;
      figure.low = f.figure->low;
      figure.high = f.figure->high;
      figure.random = f.figure->random;
    }
    page.figures.push_back(std::move(figure));
  }
  for (const auto& p : measured.curve) {
    page.curve.push_back({p.threshold, p.false_alarm_rate, p.recall, p.precision});
  }
  if (quality.at_threshold) {
    const auto& alarms = *quality.at_threshold;
    page.operating =
        report::RatePoint{alarms.threshold, alarms.false_alarm_rate.value, alarms.recall.value,
                          alarms.precision ? alarms.precision->value : 1.0};
  }
  if (auto bins = learn::MakeScoreHistogram(evaluation.scores, evaluation.labels)) {
    page.scores = report::ScoreBins{bins->edges, bins->normal, bins->anomaly, bins->log_axis};
  }
  for (const auto& kind : measured.kinds) {
    page.kinds.push_back({kind.kind, kind.rows, kind.found, kind.auroc});
  }
  for (const auto& row : evaluation.top_rows) {
    page.anomalous_rows.push_back(
        {fmt::format("{}", row.row), row.score, row.p_value, row.truth, row.reasons});
  }
  for (const auto& warning : evaluation.warnings) {
    page.notes.push_back({report::Severity::kWarning, warning});
  }
  page.json = DumpJson(EvaluationJson(evaluation, measured));
  return report::Render(page);
}

}  // namespace ringward::cli
