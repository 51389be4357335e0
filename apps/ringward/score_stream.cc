#include "ringward/score_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/interrupt.h"

namespace ringward::cli {
namespace {

constexpr std::size_t kWarningsShown = 5;

}  // namespace

std::string Reason::Text() const {
  if (feature.empty()) return "";
  return fmt::format("{} {} (expected {}) {:.0f} %", feature, seen, expected, 100.0 * share);
}

std::optional<Reason> ScoreStream::Describe(std::size_t row,
                                            const learn::Contribution& contribution,
                                            double score) const {
  const auto& feature = features_[contribution.feature];
  const auto& preprocessor = model_->preprocessor;
  const std::size_t width = preprocessor.width();
  const std::size_t column = preprocessor.input_info()[feature.front() % width].column;
  const std::size_t rows_ago = (preprocessor.inputs() - 1 - feature.front()) / width;
  // From the rows as read: inputs are cut, and rounded to 24 bits.
  const auto cell = recent_->Find(row, rows_ago);
  const std::size_t slot = stream_->slots()[column];
  if (learn::IsAsExpected(preprocessor, feature, contribution.expected, *cell.block, cell.row,
                          slot)) {
    return std::nullopt;
  }
  return Reason{.feature = learn::FeatureName(preprocessor, feature),
                .seen = learn::SeenCell(*cell.block, cell.row, slot),
                .expected = learn::FeatureValue(preprocessor, feature, contribution.expected),
                .contribution = contribution.share,
                .share = score > 0.0 ? contribution.share / score : 0.0};
}

Result<ScoreStream> ScoreStream::Open(const learn::Model& model, const learn::DataOptions& data,
                                      const ScoreSettings& settings) {
  ScoreStream stream;
  stream.model_ = &model;
  stream.settings_ = settings;
  const std::size_t batch = learn::RowsAtOnce(static_cast<std::size_t>(model.net.inputs),
                                              static_cast<std::size_t>(model.net.members));
  RINGWARD_ASSIGN(stream.plan_, learn::MakeScoringPlan(model, batch));
  stream.scorer_ = std::make_unique<learn::Scorer>(*stream.plan_, model.parts, batch);
  RINGWARD_ASSIGN(stream.stream_, learn::ScoringStream::Open(data, model.preprocessor));
  stream.id_slots_ = stream.stream_->id_slots();
  if (const auto* label = stream.stream_->schema().WithRole(learn::Role::kLabel)) {
    stream.label_slot_ = label->slot;
  }
  stream.threshold_ = model.Threshold(settings.false_alarm_rate);
  stream.recent_.emplace(model.preprocessor.window());
  stream.features_ = learn::FeaturesOf(model.preprocessor);
  stream.alarm_shares_.assign(stream.features_.size(), 0.0);
  return stream;
}

std::vector<Reason> ScoreStream::Reasons(const learn::ScoringBatch& batch, std::size_t i,
                                         const ScoredRow& row) {
  const auto x = batch.inputs.Row(i);
  const auto contributions = scorer_->Explain(x, row.score, features_);
  std::vector<Reason> reasons;
  for (const auto& contribution : contributions) {
    if (reasons.size() == settings_.reasons) break;
    if (auto reason = Describe(i, contribution, row.score)) reasons.push_back(*std::move(reason));
  }
  if (row.anomaly && row.score > 0.0) {
    for (const auto& c : contributions) alarm_shares_[c.feature] += c.share / row.score;
  }
  return reasons;
}

ScoredRow ScoreStream::MakeRow(const learn::ScoringBatch& batch, std::size_t i, double score) {
  ScoredRow row{.row = batch.block.first_row + i,
                .score = score,
                .p_value = model_->PValue(score),
                .anomaly = score > threshold_};
  for (const std::size_t slot : id_slots_) row.ids.push_back(batch.block.Text(i, slot));
  if (!batch.labels.empty()) row.truth = batch.labels[i];
  if (label_slot_ != learn::kNoSlot) row.label = batch.block.Text(i, label_slot_);
  if (settings_.reasons > 0 && (row.anomaly || !settings_.reasons_for_anomalies_only)) {
    row.reasons = Reasons(batch, i, row);
  }
  row.reasons.resize(settings_.reasons);
  return row;
}

Status ScoreStream::Run(const std::function<Status(const ScoredRow&)>& sink,
                        const std::function<Status()>& flush) {
  learn::ScoringBatch batch;
  std::vector<double> scores;
  while (true) {
    RINGWARD_ASSIGN(const bool more, stream_->Next(batch));
    // The end of the input may be what the signal brought about: `tail -f` gets it as well.
    if (InterruptRequested()) return Error(Code::kInterrupted, "interrupted");
    if (!more) return Ok();
    if (settings_.reasons > 0) recent_->Add(batch.block);
    scores.resize(batch.inputs.rows);
    scorer_->Score(batch.inputs.values, batch.inputs.rows, scores);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const ScoredRow row = MakeRow(batch, i, scores[i]);
      ++rows_;
      anomalies_ += row.anomaly ? 1 : 0;
      RINGWARD_TRY(sink(row));
    }
    RINGWARD_TRY(flush());
  }
}

std::vector<std::string> ScoreStream::Warnings() const {
  auto warnings = learn::DriftWarnings(model_->preprocessor, stream_->counts(), kWarningsShown);
  auto calibration = model_->calibration.Warning(settings_.false_alarm_rate);
  if (!calibration.empty()) warnings.push_back(std::move(calibration));
  return warnings;
}

}  // namespace ringward::cli
