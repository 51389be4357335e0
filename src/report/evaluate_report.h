#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/page.h"
#include "report/train_report.h"

namespace ringward::report {

/// A quality figure with its interval and what random scores would get.
struct QualityFigure {
  std::string name;             ///< e.g. "AUROC"
  std::string meaning;          ///< one clause for those who do not know the name
  std::optional<double> value;  ///< absent: undefined here, e.g. precision without alarms
  double low = 0.0;
  double high = 0.0;
  double random = 0.0;
  bool percent = false;  ///< shown as a percentage
};

/// What one threshold gives; the curves are made of these.
struct RatePoint {
  double threshold = 0.0;
  double false_alarm_rate = 0.0;
  double recall = 0.0;
  double precision = 0.0;
};

struct KindResult {
  std::string kind;
  std::size_t rows = 0;
  std::size_t found = 0;
  double auroc = 0.0;
};

struct FeatureShare {
  std::string feature;
  double share = 0.0;  ///< of the alarms' scores, in [0, 1]
};

struct AnomalousRow {
  std::string row;  ///< number or id columns
  double score = 0.0;
  std::optional<double> p_value;
  std::string truth;                 ///< label or kind; empty = unknown
  std::vector<std::string> reasons;  ///< most important first
};

/// What `evaluate` tells.
struct EvaluateReport {
  std::string title = "Evaluation report";
  std::string subtitle;  ///< data and model
  std::size_t rows = 0;
  std::size_t anomalies = 0;
  std::vector<QualityFigure> figures;  ///< the first five also become tiles
  double confidence = 0.95;            ///< of the intervals
  int resamples = 0;                   ///< behind the intervals; 0 = there are none
  std::vector<RatePoint> curve;        ///< by falling threshold, (0, 0) to (1, 1)
  std::optional<RatePoint> operating;  ///< at the model's threshold
  std::optional<ScoreBins> scores;
  std::vector<KindResult> kinds;             ///< empty = no kind column
  std::vector<FeatureShare> top_features;    ///< over the alarms, largest first
  std::vector<AnomalousRow> anomalous_rows;  ///< highest score first
  std::vector<Note> notes;
  std::string json;  ///< the --json document
};

/// The page as one HTML document.
std::string Render(const EvaluateReport& report);

}  // namespace ringward::report
