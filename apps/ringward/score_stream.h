#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/data/dataset.h"
#include "learn/data/recent_rows.h"
#include "learn/score/model.h"

namespace ringward::cli {

/// One feature that carries a score, in the user's units.
struct Reason {
  std::string feature;        ///< empty: no more cells are other than expected
  std::string seen;           ///< the cell as it was read; "missing" for an empty one
  std::string expected;       ///< given all other features
  double contribution = 0.0;  ///< part of the score; all features' contributions sum to it
  double share = 0.0;         ///< contribution / score

  /// `duration 41 (expected 3.2) 61 %`
  std::string Text() const;
};

/// One scored row.
struct ScoredRow {
  std::uint64_t row = 0;  ///< number over all files, from 0
  double score = 0.0;
  double p_value = 1.0;
  bool anomaly = false;
  std::vector<std::string> ids;  ///< as many as id columns
  std::vector<Reason> reasons;   ///< as many as asked for, largest first
  std::string label;             ///< as written; empty without a label column
  learn::RowLabel truth = learn::RowLabel::kMissing;
};

struct ScoreSettings {
  std::size_t reasons = 0;  ///< --explain
  bool reasons_for_anomalies_only = false;
  double false_alarm_rate = 0.01;
};

/// Scores the rows of `stream` with `model` and hands each one to `sink`, in order; `flush` is
/// called when no more rows are there for the moment. Stops at the first error, its own or theirs;
/// kInterrupted on a signal.
class ScoreStream {
 public:
  /// `model` must outlive the object. kResource when memory lacks.
  static Result<ScoreStream> Open(const learn::Model& model, const learn::DataOptions& data,
                                  const ScoreSettings& settings);

  Status Run(const std::function<Status(const ScoredRow&)>& sink,
             const std::function<Status()>& flush);

  double threshold() const { return threshold_; }
  std::uint64_t rows() const { return rows_; }
  std::uint64_t anomalies() const { return anomalies_; }
  const learn::Schema& schema() const { return stream_->schema(); }
  /// What was odd about the rows so far, for people.
  std::vector<std::string> Warnings() const;
  /// Features that reasons are about; names by learn::FeatureName.
  const learn::FeatureGroups& features() const { return features_; }
  /// Share of the alarms' scores that each feature has, summed over alarms; only counted
  /// for rows whose reasons were asked for.
  const std::vector<double>& alarm_shares() const { return alarm_shares_; }

 private:
  ScoreStream() = default;
  ScoredRow MakeRow(const learn::ScoringBatch& batch, std::size_t i, double score);
  std::vector<Reason> Reasons(const learn::ScoringBatch& batch, std::size_t i,
                              const ScoredRow& row);
  /// Nothing where the cell is what was expected.
  std::optional<Reason> Describe(std::size_t row, const learn::Contribution& contribution,
                                 double score) const;

  const learn::Model* model_ = nullptr;
  ScoreSettings settings_;
  std::unique_ptr<learn::Plan> plan_;
  std::unique_ptr<learn::Scorer> scorer_;
  std::optional<learn::ScoringStream> stream_;
  std::optional<learn::RecentRows> recent_;  ///< only fed where reasons are asked for
  std::vector<std::size_t> id_slots_;
  std::size_t label_slot_ = learn::kNoSlot;
  double threshold_ = 0.0;
  std::uint64_t rows_ = 0;
  std::uint64_t anomalies_ = 0;
  learn::FeatureGroups features_;
  std::vector<double> alarm_shares_;
};

}  // namespace ringward::cli
