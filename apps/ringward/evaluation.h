#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/score/metrics.h"
#include "report/evaluate_report.h"
#include "ringward/cli/json.h"

namespace ringward::cli {

/// A row that stands out, for the report.
struct TopRow {
  std::uint64_t row = 0;
  double score = 0.0;
  std::optional<double> p_value;
  std::string truth;
  std::vector<std::string> reasons;
};

/// Scores with their labels, before they are measured.
struct Evaluation {
  std::string subject;  ///< model folder and data, or the score file
  std::vector<double> scores;
  std::vector<std::uint8_t> labels;
  std::vector<std::string> kinds;  ///< per row; empty = there are none
  std::optional<double> threshold;
  std::optional<double> false_alarm_rate;  ///< the one asked for
  std::uint64_t unlabelled = 0;            ///< rows left out because their label is missing
  std::vector<TopRow> top_rows;            ///< highest score first
  std::vector<report::FeatureShare> top_features;
  std::vector<std::string> warnings;
};

/// An Evaluation with every figure that follows from it.
struct Measured {
  learn::Quality quality;
  std::vector<learn::KindQuality> kinds;
  std::vector<learn::CurvePoint> curve;
};

/// Fails as learn::MeasureQuality does.
Result<Measured> Measure(const Evaluation& evaluation, const learn::QualityOptions& options);

Json EvaluationJson(const Evaluation& evaluation, const Measured& measured);
std::string EvaluationText(const Evaluation& evaluation, const Measured& measured);
std::string EvaluationPage(const Evaluation& evaluation, const Measured& measured);

}  // namespace ringward::cli
