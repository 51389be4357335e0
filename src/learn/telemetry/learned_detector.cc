#include "learn/telemetry/learned_detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "learn/telemetry/table.h"
#include "signal/metric.h"

namespace ringward::learn {
namespace {

constexpr std::size_t kWorldMin = 3;     // of two, who is apart?
constexpr std::size_t kBatch = 256;      // rows scored at a time
constexpr float kWorthFinding = 0.405F;  // of a log score: one and a half times the usual
constexpr double kUnusualEnd = 0.15;     // mean distance of late below which it is over
constexpr double kUnusualRate = 1.0 / 16.0;
constexpr double kBudgetShare = 0.1;
constexpr std::size_t kReasons = 3;

detect::RankShift::Options ScoreShift() {
  detect::RankShift::Options options;
  options.shift = kWorthFinding;
  options.scale_min = 0.05F;
  return options;
}

}  // namespace

Result<std::shared_ptr<const detect::DetectorKind>> MakeLearnedKind(
    std::shared_ptr<const Model> model, const std::string& folder) {
  const auto refuse = [&](const std::string& why) {
    return Error(Code::kInvalidInput, folder + ": " + why);
  };
  if (model->features.empty()) {
    return refuse(
        "is a model of a table, not of jobs' numbers (`ringward train --data RUN.rwrec` makes "
        "one)");
  }
  if (model->features != kTelemetryFeatures) {
    return refuse(fmt::format("is a model of the features {}, and this program makes {}",
                              model->features, kTelemetryFeatures));
  }
  const auto slots = model->preprocessor.Bind(TelemetrySchema());
  if (!slots) return refuse("is damaged: " + slots.error().what());
  if (model->preprocessor.window() != 1) return refuse("takes windows of rows, not single steps");
  RINGWARD_TRY(MakeScoringPlan(*model, 1));
  return std::make_shared<const detect::DetectorKind>(
      detect::DetectorKind{.name = "learned",
                           .summary = "numbers that do not go together as in healthy steps",
                           .share = kBudgetShare,
                           .make = [model = std::move(model)](const signal::Topology& topology,
                                                              const detect::DetectOptions&) {
                             return std::make_unique<LearnedDetector>(topology, model);
                           }});
}

LearnedDetector::LearnedDetector(const signal::Topology& topology,
                                 std::shared_ptr<const Model> model)
    : world_(topology.world()),
      model_(std::move(model)),
      groups_(FeaturesOf(model_->preprocessor)),
      features_(world_),
      shift_(world_, topology.ByStage(), ScoreShift()),
      scores_(world_),
      x_(world_) {
  auto plan = MakeScoringPlan(*model_, kBatch);
  auto slots = model_->preprocessor.Bind(TelemetrySchema());
  RINGWARD_CHECK(plan && slots);  // MakeLearnedKind has tried both
  plan_ = *std::move(plan);
  slots_ = *std::move(slots);
  scorer_ = std::make_unique<Scorer>(*plan_, model_->parts, kBatch);
}

Status LearnedDetector::Transform(std::span<const float> rows, std::vector<float>& out) const {
  const Block block = TelemetryBlock(rows);
  out.resize(block.rows * model_->preprocessor.width());
  TransformCounts counts;
  return model_->preprocessor.Transform(block, slots_, out, counts);
}

bool LearnedDetector::Score() {
  if (!Transform(features_.rows(), inputs_)) return false;
  scorer_->Score(inputs_, world_, scores_);
  for (std::size_t r = 0; r < world_; ++r) {
    x_[r] = features_.has(r) ? static_cast<float>(std::log(scores_[r])) : signal::kMissing;
  }
  return true;
}

void LearnedDetector::Follow(Excursion& excursion, std::size_t rank,
                             const signal::Frame& frame) const {
  const std::span<const float> row = features_.row(rank);
  if (excursion.frames == 0.0) {
    excursion.since_step = frame.step;
    excursion.sum.assign(row.size(), 0.0);
    excursion.count.assign(row.size(), 0.0);
  }
  excursion.frames += 1.0;
  for (std::size_t f = 0; f < row.size(); ++f) {
    if (std::isnan(row[f])) continue;
    excursion.sum[f] += static_cast<double>(row[f]);
    excursion.count[f] += 1.0;
  }
}

/// The mean of the rank's features over the excursion, explained as any row is.
std::string LearnedDetector::EvidenceOf(std::size_t rank, const Excursion& excursion) {
  std::vector<float> mean(excursion.sum.size());
  for (std::size_t f = 0; f < mean.size(); ++f)
    mean[f] = static_cast<float>(excursion.sum[f] / excursion.count[f]);
  std::vector<float> inputs;
  std::string reasons;
  if (Transform(mean, inputs)) {
    double score = 0.0;
    scorer_->Score(inputs, 1, std::span(&score, 1));
    const auto contributions = scorer_->Explain(inputs, score, groups_);
    for (std::size_t i = 0; i < std::min(kReasons, contributions.size()); ++i) {
      const Contribution& each = contributions[i];
      const auto& inputs_of = groups_[each.feature];
      std::vector<float> seen;
      for (const std::size_t input : inputs_of) seen.push_back(inputs[input]);
      reasons += fmt::format("{} {} {} (expected {})", reasons.empty() ? ":" : ",",
                             FeatureName(model_->preprocessor, inputs_of),
                             FeatureValue(model_->preprocessor, inputs_of, seen),
                             FeatureValue(model_->preprocessor, inputs_of, each.expected));
    }
  }
  return fmt::format(
      "the numbers of rank {} do not go together as in healthy steps, since step {}{}", rank,
      excursion.since_step, reasons);
}

void LearnedDetector::Judge(std::size_t rank, const signal::Frame& frame, double level,
                            double alarms_per_day, detect::FindingSink& sink) {
  if (signal::IsMissing(x_[rank])) return;
  const auto residual = static_cast<double>(shift_.residual()[rank]);
  auto known = excursions_.find(rank);
  if (known != excursions_.end() && known->second.told.id != 0) {
    Excursion& excursion = known->second;
    excursion.residual += kUnusualRate * (residual - excursion.residual);
    if (excursion.residual > kUnusualEnd) return;
    sink.Close(excursion.told, frame.received);
    shift_.SetTrouble(rank, false);
    shift_.Restart(rank);
  }
  if (shift_.cusum(rank) == 0.0F) {
    if (known != excursions_.end()) excursions_.erase(known);
    return;
  }
  Excursion& excursion = excursions_[rank];
  Follow(excursion, rank, frame);
  excursion.residual += residual;
  const double mean = excursion.residual / excursion.frames;
  if (static_cast<double>(shift_.cusum(rank)) <= level || mean < static_cast<double>(kWorthFinding))
    return;
  signal::Finding& told = excursion.told;
  told = sink.New(signal::FindingKind::kUnusual, "learned", frame.step, frame.received);
  told.ranks = {static_cast<std::int32_t>(rank)};
  told.since_step = excursion.since_step;
  told.p_value = alarms_per_day;
  told.effect = std::exp(mean);
  told.evidence = EvidenceOf(rank, excursion);
  excursion.residual = mean;
  shift_.SetTrouble(rank, true);
  sink.Add(told);
}

void LearnedDetector::OnFrame(const signal::Frame& frame, const detect::Surroundings& around,
                              detect::FindingSink& sink) {
  if (world_ < kWorldMin || !features_.Take(frame) || !Score()) return;
  if (!shift_.Observe(x_)) return;
  const double level = shift_.Level(around.frames_per_day, around.alarms_per_day);
  for (std::size_t r = 0; r < world_; ++r) Judge(r, frame, level, around.alarms_per_day, sink);
}

void LearnedDetector::Finish(signal::Time now, detect::FindingSink& sink) {
  for (auto& [rank, excursion] : excursions_) sink.Close(excursion.told, now);
  excursions_.clear();
}

}  // namespace ringward::learn
