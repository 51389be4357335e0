#include "report/train_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/parts.h"
#include "report/text.h"

namespace ringward::report {
namespace {

/// The best epoch, where it is told and shown.
const EpochLoss* BestOf(const TrainReport& report) {
  const auto found =
      std::find_if(report.epochs.begin(), report.epochs.end(),
                   [&](const EpochLoss& epoch) { return report.best_epoch == epoch.epoch; });
  return found == report.epochs.end() ? nullptr : &*found;
}

std::vector<Tile> TilesOf(const TrainReport& report) {
  std::vector<Tile> tiles{
      {"rows trained on", FormatCount(report.rows),
       fmt::format("{} features", FormatCount(report.features))},
      {"training time", FormatSeconds(report.seconds),
       fmt::format("{} rows/s on {} rank{}", FormatNumber(report.rows_per_second, 3), report.ranks,
                   report.ranks == 1 ? "" : "s")}};
  if (!report.epochs.empty()) {
    const EpochLoss* const best = BestOf(report);
    const EpochLoss& loss = best != nullptr ? *best : report.epochs.back();
    tiles.push_back({loss.held_out ? "loss on " + report.held_out_rows : "training loss",
                     FormatNumber(loss.held_out.value_or(loss.train)),
                     fmt::format("epoch {} of {}", loss.epoch, report.epochs.back().epoch)});
  }
  if (report.calibration) {
    const CalibrationSummary& calibration = *report.calibration;
    tiles.push_back(
        {"threshold", FormatNumber(calibration.threshold),
         fmt::format("for {} false alarms, from {} calibration rows",
                     FormatPercent(calibration.false_alarm_rate), FormatCount(calibration.rows))});
  }
  return tiles;
}

/// A log axis where the loss falls by more than a factor of five and never reaches zero.
bool WantsLogAxis(const std::vector<EpochLoss>& epochs) {
  double low = INFINITY;
  double high = 0.0;
  for (const EpochLoss& epoch : epochs) {
    for (const double loss : {epoch.train, epoch.held_out.value_or(epoch.train)}) {
      if (!std::isfinite(loss)) continue;
      low = std::min(low, loss);
      high = std::max(high, loss);
    }
  }
  return low > 0.0 && high > 5.0 * low;
}

std::string DrawLosses(const TrainReport& report) {
  if (report.epochs.empty()) return {};
  Line train{.name = "rows learned from"};
  Line held_out{.name = report.held_out_rows};
  for (const EpochLoss& loss : report.epochs) {
    const auto epoch = static_cast<double>(loss.epoch);
    train.points.push_back({epoch, loss.train});
    if (loss.held_out) held_out.points.push_back({epoch, *loss.held_out});
  }
  LineChart chart{.title = "Loss", .description = "Mean loss per epoch; lower is better."};
  chart.x = {.label = "epoch",
             .low = 1.0,
             .high = std::max(2.0, static_cast<double>(report.epochs.back().epoch))};
  chart.y.log = WantsLogAxis(report.epochs);
  chart.y.label = chart.y.log ? "loss (log)" : "loss";
  const bool measured = !held_out.points.empty();
  if (const EpochLoss* const best = BestOf(report)) {
    chart.markers.push_back(
        {{static_cast<double>(best->epoch), best->held_out.value_or(best->train)},
         fmt::format("kept: epoch {}", best->epoch),
         true});
  }
  chart.lines.push_back(std::move(train));
  if (measured) chart.lines.push_back(std::move(held_out));
  return Draw(chart);
}

}  // namespace

std::string Render(const TrainReport& report) {
  std::vector<std::string> figures;
  if (auto losses = DrawLosses(report); !losses.empty()) figures.push_back(std::move(losses));
  if (report.scores) {
    const auto threshold =
        report.calibration ? std::optional<double>(report.calibration->threshold) : std::nullopt;
    figures.push_back(DrawScores(*report.scores, threshold, "Scores of rows the nets left out",
                                 "calibration rows"));
  }
  Page page;
  page.title = report.title;
  page.subtitle = report.subtitle;
  page.body = TileRow(TilesOf(report)) + Section("Notes", NoteList(report.notes)) +
              Section("Training", Columns(figures)) + Section("Data", FactList(report.data)) +
              Section("Options", FactList(report.options)) +
              Section("Time", FactList(report.timing));
  page.json = report.json;
  return Render(page);
}

}  // namespace ringward::report
