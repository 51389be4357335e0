#include "learn/score/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "learn/score/bootstrap.h"
#include "learn/score/ranking.h"

namespace ringward::learn {
namespace {

constexpr std::size_t kIntervalResolution = 4096;  // of the ranking that is resampled

Status CheckOptions(const QualityOptions& options) {
  if (options.threshold && !std::isfinite(*options.threshold)) {
    return Error(Code::kInvalidInput,
                 fmt::format("threshold is {}, should be finite", *options.threshold));
  }
  if (options.resamples < 0 || options.resamples > 100'000) {
    return Error(Code::kInvalidInput,
                 fmt::format("resamples is {}, should be in 0 .. 100000", options.resamples));
  }
  if (!(options.confidence > 0.0 && options.confidence < 1.0)) {
    return Error(Code::kInvalidInput,
                 fmt::format("confidence is {}, should be in (0, 1)", options.confidence));
  }
  return Ok();
}

/// The ends of the central interval that holds `confidence` of the values that are numbers.
void SetInterval(std::vector<double> values, double confidence, Figure& figure) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  figure.low = figure.high = figure.value;
  if (values.empty()) return;
  const auto at = [&values](double quantile) {
    const double place = std::round(quantile * static_cast<double>(values.size() - 1));
    const auto nth = values.begin() + static_cast<std::ptrdiff_t>(place);
    std::nth_element(values.begin(), nth, values.end());
    return *nth;
  };
  figure.low = at((1.0 - confidence) / 2.0);
  figure.high = at((1.0 + confidence) / 2.0);
}

AlarmQuality MeasureAlarms(const Ranking& ranking, const RankingFigures& figures,
                           double threshold) {
  AlarmQuality alarm;
  alarm.threshold = threshold;
  for (const ScoreGroup& group : ranking.groups) {
    if (!(group.score > threshold)) break;
    alarm.found += group.anomalies;
    alarm.false_alarms += group.normals;
  }
  alarm.alarms = alarm.found + alarm.false_alarms;
  const double rows = static_cast<double>(ranking.normals + ranking.anomalies);
  const double alarm_share = static_cast<double>(alarm.alarms) / rows;
  alarm.recall = {figures.recall, figures.recall, figures.recall, alarm_share};
  const double false_rate = figures.false_alarm_rate;
  alarm.false_alarm_rate = {false_rate, false_rate, false_rate, alarm_share};
  if (alarm.alarms > 0) {
    const double precision = figures.precision;
    alarm.precision = {precision, precision, precision,
                       static_cast<double>(ranking.anomalies) / rows};
  }
  return alarm;
}

void SetIntervals(const std::vector<RankingFigures>& samples, double confidence, Quality& quality) {
  const auto set = [&samples, confidence](Figure& figure, double RankingFigures::*member) {
    std::vector<double> values(samples.size());
    std::transform(samples.begin(), samples.end(), values.begin(),
                   [member](const RankingFigures& f) { return f.*member; });
    SetInterval(std::move(values), confidence, figure);
  };
  set(quality.auroc, &RankingFigures::auroc);
  set(quality.auprc, &RankingFigures::auprc);
  if (!quality.at_threshold) return;
  set(quality.at_threshold->recall, &RankingFigures::recall);
  set(quality.at_threshold->false_alarm_rate, &RankingFigures::false_alarm_rate);
  if (quality.at_threshold->precision) {
    set(*quality.at_threshold->precision, &RankingFigures::precision);
  }
}

}  // namespace

Result<Quality> MeasureQuality(std::span<const double> scores, std::span<const std::uint8_t> labels,
                               const QualityOptions& options) {
  RINGWARD_TRY(CheckOptions(options));
  RINGWARD_ASSIGN(const Ranking ranking, RankScores(scores, labels));
  const double threshold = options.threshold.value_or(std::numeric_limits<double>::infinity());
  const CountedCells cells(ranking, threshold);
  const RankingFigures figures = cells.Figures();

  Quality quality;
  quality.rows = scores.size();
  quality.anomalies = ranking.anomalies;
  quality.prevalence = static_cast<double>(ranking.anomalies) / static_cast<double>(scores.size());
  quality.auroc = {figures.auroc, figures.auroc, figures.auroc, 0.5};
  quality.auprc = {figures.auprc, figures.auprc, figures.auprc, quality.prevalence};
  if (options.threshold) quality.at_threshold = MeasureAlarms(ranking, figures, threshold);
  quality.resamples = options.resamples;
  quality.confidence = options.confidence;
  if (options.resamples > 0) {
    const CountedCells coarse(ranking, threshold, kIntervalResolution);
    SetIntervals(coarse.Resample(options.seed, options.resamples), options.confidence, quality);
  }
  return quality;
}

Result<double> Auroc(std::span<const double> scores, std::span<const std::uint8_t> labels) {
  RINGWARD_ASSIGN(const Ranking ranking, RankScores(scores, labels));
  return CountedCells(ranking, std::numeric_limits<double>::infinity()).Figures().auroc;
}

Result<double> Auprc(std::span<const double> scores, std::span<const std::uint8_t> labels) {
  RINGWARD_ASSIGN(const Ranking ranking, RankScores(scores, labels));
  return CountedCells(ranking, std::numeric_limits<double>::infinity()).Figures().auprc;
}

Result<std::vector<CurvePoint>> QualityCurve(std::span<const double> scores,
                                             std::span<const std::uint8_t> labels,
                                             double resolution) {
  if (!(resolution > 0.0 && resolution <= 1.0)) {
    return Error(Code::kInvalidInput,
                 fmt::format("resolution is {}, should be in (0, 1]", resolution));
  }
  RINGWARD_ASSIGN(const Ranking ranking, RankScores(scores, labels));
  // Precision has no value before the first row; the first group's is the usual start.
  CurvePoint point{std::numeric_limits<double>::infinity(), 0.0, 0.0, 1.0};
  const ScoreGroup& top = ranking.groups.front();
  point.precision =
      static_cast<double>(top.anomalies) / static_cast<double>(top.anomalies + top.normals);
  std::vector<CurvePoint> curve{point};
  std::size_t found = 0;
  std::size_t wrong = 0;
  for (const ScoreGroup& group : ranking.groups) {
    found += group.anomalies;
    wrong += group.normals;
    point = {group.score, static_cast<double>(wrong) / static_cast<double>(ranking.normals),
             static_cast<double>(found) / static_cast<double>(ranking.anomalies),
             static_cast<double>(found) / static_cast<double>(found + wrong)};
    const CurvePoint& kept = curve.back();
    const double moved =
        std::max({point.false_alarm_rate - kept.false_alarm_rate, point.recall - kept.recall,
                  std::abs(point.precision - kept.precision)});
    if (moved >= resolution) curve.push_back(point);
  }
  if (curve.back().threshold != point.threshold) curve.push_back(point);
  return curve;
}

Result<std::vector<KindQuality>> QualityByKind(std::span<const double> scores,
                                               std::span<const std::uint8_t> labels,
                                               std::span<const std::string> kinds,
                                               double threshold) {
  if (kinds.size() != scores.size()) {
    return Error(Code::kInvalidInput,
                 fmt::format("{} kinds for {} scores", kinds.size(), scores.size()));
  }
  RINGWARD_ASSIGN(const Ranking ranking, RankScores(scores, labels));
  std::vector<double> normals;
  std::map<std::string, std::vector<double>> by_kind;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    (labels[i] != 0 ? by_kind[kinds[i]] : normals).push_back(scores[i]);
  }
  std::sort(normals.begin(), normals.end());
  std::vector<KindQuality> result;
  for (const auto& [kind, of_kind] : by_kind) {
    KindQuality quality{kind, of_kind.size(), 0, 0.0, 0.0};
    double wins = 0.0;  // pairs (anomaly, normal) in the right order; a tie is half a pair
    for (const double score : of_kind) {
      quality.found += score > threshold ? 1 : 0;
      const auto [first, last] = std::equal_range(normals.begin(), normals.end(), score);
      wins += static_cast<double>((first - normals.begin()) + (last - normals.begin())) / 2.0;
    }
    const double rows = static_cast<double>(of_kind.size());
    quality.recall = static_cast<double>(quality.found) / rows;
    quality.auroc = wins / (rows * static_cast<double>(normals.size()));
    result.push_back(std::move(quality));
  }
  return result;
}

}  // namespace ringward::learn
