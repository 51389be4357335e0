#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/charts.h"
#include "report/page.h"

namespace ringward::report {

/// Losses after one epoch.
struct EpochLoss {
  int epoch = 1;  ///< from 1
  double train = 0.0;
  std::optional<double> held_out;  ///< on rows that are not learned from
};

/// How the threshold was set.
struct CalibrationSummary {
  std::size_t rows = 0;           ///< rows whose scores the threshold was read off
  double threshold = 0.0;         ///< a row is an alarm when its score is above
  double false_alarm_rate = 0.0;  ///< the rate asked for, in (0, 1)
};

/// Bins of scores; see Histogram for the shapes.
struct ScoreBins {
  std::vector<double> edges;
  std::vector<std::size_t> normal;   ///< or all rows, where labels are unknown
  std::vector<std::size_t> anomaly;  ///< empty where labels are unknown
  bool log_axis = false;
};

/// What `train` tells about a run.
struct TrainReport {
  std::string title = "Training report";
  std::string subtitle;           ///< data and model directory
  std::vector<Fact> options;      ///< options used, in the order of --help
  std::vector<Fact> data;         ///< rows, columns by kind, rows left out
  std::vector<Note> notes;        ///< constant columns, small calibration set, ...
  std::vector<EpochLoss> epochs;  ///< rising; of a long run some, the last among them
  std::string held_out_rows = "validation rows";  ///< what EpochLoss::held_out was measured on
  std::optional<int> best_epoch;  ///< whose weights were kept; absent = the last one's
  std::optional<CalibrationSummary> calibration;
  std::optional<ScoreBins> scores;  ///< of the calibration rows
  std::size_t rows = 0;             ///< rows trained on
  std::size_t features = 0;         ///< inputs of the net
  int ranks = 1;
  double seconds = 0.0;          ///< wall time of training
  double rows_per_second = 0.0;  ///< over all ranks
  std::vector<Fact> timing;      ///< phases and their durations
  std::string json;              ///< the --json document
};

/// The page as one HTML document.
std::string Render(const TrainReport& report);

}  // namespace ringward::report
