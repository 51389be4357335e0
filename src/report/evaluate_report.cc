#include "report/evaluate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/charts.h"
#include "report/parts.h"
#include "report/text.h"

namespace ringward::report {
namespace {

constexpr std::size_t kTilesMax = 5;

/// Figures stand under one another: a fixed number of decimals, except for the very small.
std::string Show(const QualityFigure& figure, double value) {
  if (!figure.percent) return fmt::format("{:.3f}", value);
  const double percent = value * 100.0;
  if (percent > 0.0 && percent < 0.01) return FormatPercent(value);
  return fmt::format("{:.{}f} %", percent, percent < 10.0 ? 2 : 1);
}

std::string IntervalOf(const QualityFigure& figure) {
  return Show(figure, figure.low) + " – " + Show(figure, figure.high);
}

std::vector<Tile> TilesOf(const EvaluateReport& report) {
  std::vector<Tile> tiles;
  for (const QualityFigure& figure : report.figures) {
    if (tiles.size() == kTilesMax) break;
    std::string note = report.resamples > 0 && figure.value ? IntervalOf(figure) + "; " : "";
    note += "random scores: " + Show(figure, figure.random);
    tiles.push_back({figure.name, figure.value ? Show(figure, *figure.value) : "–", note});
  }
  return tiles;
}

std::string DrawFigures(const EvaluateReport& report) {
  if (report.figures.empty()) return {};
  Table table;
  table.caption =
      fmt::format("{} rows, {} of them anomalies ({}).", FormatCount(report.rows),
                  FormatCount(report.anomalies),
                  FormatPercent(report.rows == 0 ? 0.0
                                                 : static_cast<double>(report.anomalies) /
                                                       static_cast<double>(report.rows)));
  const bool intervals = report.resamples > 0;
  table.columns = {{"figure"}, {"value", true}};
  if (intervals) {
    table.caption += fmt::format(" Intervals: {:.0f} % by a bootstrap of {} resamples.",
                                 report.confidence * 100.0,
                                 FormatCount(static_cast<std::size_t>(report.resamples)));
    table.columns.push_back({"interval", true});
  }
  table.columns.push_back({"random scores", true});
  table.columns.push_back({"meaning"});
  for (const QualityFigure& figure : report.figures) {
    std::vector<std::string> row{figure.name, figure.value ? Show(figure, *figure.value) : "–"};
    if (intervals) row.push_back(figure.value ? IntervalOf(figure) : "–");
    row.push_back(Show(figure, figure.random));
    row.push_back(figure.meaning);
    table.rows.push_back(std::move(row));
  }
  return Draw(table);
}

std::string TipOf(const RatePoint& point) {
  return fmt::format("threshold {}\nfalse-alarm rate {}\nrecall {}\nprecision {}",
                     FormatNumber(point.threshold), FormatPercent(point.false_alarm_rate),
                     FormatPercent(point.recall), FormatPercent(point.precision));
}

AxisOptions ShareAxis(std::string label) {
  return {.label = std::move(label), .low = 0.0, .high = 1.0};
}

std::string DrawRoc(const EvaluateReport& report) {
  LineChart chart{.title = "ROC curve",
                  .description =
                      "Share of anomalies found against share of normal rows alarmed, "
                      "over all thresholds; up and left is better.",
                  .x = ShareAxis("false-alarm rate"),
                  .y = ShareAxis("recall")};
  Line line{.name = "these scores", .fill = true};
  for (const RatePoint& point : report.curve) {
    line.points.push_back({point.false_alarm_rate, point.recall});
    line.tips.push_back(TipOf(point));
  }
  chart.lines = {std::move(line),
                 {.name = "random scores", .points = {{0, 0}, {1, 1}}, .dashed = true}};
  if (report.operating) {
    chart.markers.push_back({{report.operating->false_alarm_rate, report.operating->recall},
                             "threshold " + FormatNumber(report.operating->threshold)});
  }
  return Draw(chart);
}

std::string DrawPrecisionRecall(const EvaluateReport& report) {
  LineChart chart{.title = "Precision and recall",
                  .description =
                      "Share of alarms that are right against share of anomalies "
                      "found, over all thresholds; up and right is better.",
                  .x = ShareAxis("recall"),
                  .y = ShareAxis("precision")};
  Line line{.name = "these scores", .steps = true, .fill = true};
  for (const RatePoint& point : report.curve) {
    line.points.push_back({point.recall, point.precision});
    line.tips.push_back(TipOf(point));
  }
  const double prevalence =
      report.rows == 0 ? 0.0
                       : static_cast<double>(report.anomalies) / static_cast<double>(report.rows);
  chart.lines = {std::move(line),
                 {.name = fmt::format("random scores ({})", FormatPercent(prevalence)),
                  .points = {{0, prevalence}, {1, prevalence}},
                  .dashed = true}};
  if (report.operating) {
    chart.markers.push_back({{report.operating->recall, report.operating->precision},
                             "threshold " + FormatNumber(report.operating->threshold)});
  }
  return Draw(chart);
}

std::string DrawKinds(const EvaluateReport& report) {
  if (report.kinds.empty()) return {};
  BarChart chart{.title = "Anomalies found, by kind",
                 .description = "Share of each kind's rows that were alarms at the threshold.",
                 .label_header = "kind",
                 .value_header = "found · AUROC",
                 .bars = {},
                 .full = 1.0};
  for (const KindResult& kind : report.kinds) {
    const double share =
        kind.rows == 0 ? 0.0 : static_cast<double>(kind.found) / static_cast<double>(kind.rows);
    chart.bars.push_back({kind.kind, share,
                          fmt::format("{} of {} · {:.3f}", FormatCount(kind.found),
                                      FormatCount(kind.rows), kind.auroc)});
  }
  return Draw(chart);
}

std::string DrawFeatures(const EvaluateReport& report) {
  if (report.top_features.empty()) return {};
  BarChart chart{.title = "What carried the alarms",
                 .description = "Share of the alarms' scores that each feature contributed.",
                 .label_header = "feature",
                 .value_header = "share",
                 .bars = {},
                 .full = std::nullopt};
  for (const FeatureShare& feature : report.top_features) {
    chart.bars.push_back({feature.feature, feature.share, FormatPercent(feature.share)});
  }
  return Draw(chart);
}

std::string DrawRows(const EvaluateReport& report) {
  if (report.anomalous_rows.empty()) return {};
  const auto& rows = report.anomalous_rows;
  const bool p_values = std::any_of(
      rows.begin(), rows.end(), [](const AnomalousRow& row) { return row.p_value.has_value(); });
  Table table{.caption = "The rows with the highest scores, and what carried each.",
              .columns = {{"row"}, {"score", true}},
              .rows = {}};
  if (p_values) table.columns.push_back({"p-value", true});
  table.columns.push_back({"truth"});
  table.columns.push_back({"reasons"});
  for (const AnomalousRow& row : rows) {
    std::vector<std::string> cells{row.row, FormatNumber(row.score)};
    if (p_values) cells.push_back(row.p_value ? FormatNumber(*row.p_value, 2) : "–");
    cells.push_back(row.truth.empty() ? "–" : row.truth);
    cells.push_back(fmt::format("{}", fmt::join(row.reasons, "; ")));
    table.rows.push_back(std::move(cells));
  }
  return Draw(table);
}

}  // namespace

std::string Render(const EvaluateReport& report) {
  std::string found;
  if (report.scores) {
    const auto threshold =
        report.operating ? std::optional<double>(report.operating->threshold) : std::nullopt;
    found = DrawScores(*report.scores, threshold, "Scores", "rows");
  }
  found += DrawKinds(report);
  // Features are many bars: as high as scores and kinds together.
  std::vector<std::string> separation;
  if (!found.empty()) separation.push_back(fmt::format("<div class=\"stack\">\n{}</div>\n", found));
  if (auto features = DrawFeatures(report); !features.empty()) {
    separation.push_back(std::move(features));
  }
  std::vector<std::string> curves;
  if (!report.curve.empty()) curves = {DrawRoc(report), DrawPrecisionRecall(report)};
  Page page;
  page.title = report.title;
  page.subtitle = report.subtitle;
  page.body = TileRow(TilesOf(report)) + Section("Notes", NoteList(report.notes)) +
              Section("Scores and alarms", Columns(separation)) +
              Section("Over all thresholds", Columns(curves)) +
              Section("Figures", DrawFigures(report)) +
              Section("Most anomalous rows", DrawRows(report));
  page.json = report.json;
  return Render(page);
}

}  // namespace ringward::report
