#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "detect/detector.h"
#include "detect/rank_shift.h"
#include "learn/score/model.h"
#include "learn/score/scorer.h"
#include "learn/telemetry/features.h"

namespace ringward::learn {

/// The detector of a model of healthy telemetry, for detect::DetectOptions::more. kInvalidInput,
/// naming `folder`, where it is a model of something else or of another set of features.
Result<std::shared_ptr<const detect::DetectorKind>> MakeLearnedKind(
    std::shared_ptr<const Model> model, const std::string& folder);

/// Finds ranks whose numbers do not go together as in healthy steps. The model scores each rank's
/// features in each step; the logarithm of the score is followed against the rank's own past and
/// the others by RankShift, whose alarm level comes from healthy excursions and the false-alarm
/// budget: so a model that fits a job badly raises no more alarms than one that fits well. Of jobs
/// of three ranks and more.
class LearnedDetector final : public detect::Detector {
 public:
  /// REQUIRES: a model of kTelemetryFeatures, consistent.
  LearnedDetector(const signal::Topology& topology, std::shared_ptr<const Model> model);
  void OnFrame(const signal::Frame& frame, const detect::Surroundings& around,
               detect::FindingSink& sink) override;
  void Finish(signal::Time now, detect::FindingSink& sink) override;

 private:
  /// What a rank has shown since its excursion began.
  struct Excursion {
    double residual =
        0.0;  ///< sum of the distances of log scores; once told, their average of late
    double frames = 0.0;
    std::int64_t since_step = 0;
    std::vector<double> sum{};    ///< of features
    std::vector<double> count{};  ///< values in it
    signal::Finding told{};
  };

  bool Score();
  void Judge(std::size_t rank, const signal::Frame& frame, double level, double alarms_per_day,
             detect::FindingSink& sink);
  void Follow(Excursion& excursion, std::size_t rank, const signal::Frame& frame) const;
  std::string EvidenceOf(std::size_t rank, const Excursion& excursion);
  Status Transform(std::span<const float> rows, std::vector<float>& out) const;

  const std::size_t world_;
  std::shared_ptr<const Model> model_;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Scorer> scorer_;
  FeatureGroups groups_;
  std::vector<std::size_t> slots_;
  TelemetryFeatures features_;
  detect::RankShift shift_;
  std::vector<float> inputs_;
  std::vector<double> scores_;
  std::vector<float> x_;  ///< log scores, [world]
  std::map<std::size_t, Excursion> excursions_;
};

}  // namespace ringward::learn
