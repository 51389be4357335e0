#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

/// Quality of anomaly scores against labels: figures, intervals, curves.
///
/// Everywhere here: a higher score is more anomalous; `labels[i]` is 0 for a normal row and any
/// other value for an anomaly; rows with equal scores are never ordered among themselves; a row is
/// an alarm when `score > threshold` (strictly: a conformal threshold is itself a calibration
/// score, and a row that only equals it has a p-value above the rate asked for).
/// All functions are pure and safe to call from any thread.
namespace ringward::learn {

/// A quality figure, what chance alone would give, and how sure we are of it.
struct Figure {
  double value = 0.0;
  double low = 0.0;     ///< lower end of the bootstrap interval
  double high = 0.0;    ///< upper end
  double random = 0.0;  ///< expected value of scores drawn without looking at the row
};

/// What raising alarms at one threshold gives.
struct AlarmQuality {
  double threshold = 0.0;
  std::size_t alarms = 0;        ///< rows with score > threshold
  std::size_t found = 0;         ///< alarms that are anomalies
  std::size_t false_alarms = 0;  ///< alarms that are normal
  /// Share of alarms that are anomalies; absent where nothing was an alarm. Random: prevalence.
  std::optional<Figure> precision;
  Figure recall;            ///< share of anomalies found. Random: the share of rows that alarm
  Figure false_alarm_rate;  ///< share of normal rows that alarm. Random: the same share
};

/// Every figure that `evaluate` prints, writes as JSON and draws; the one source of all three.
struct Quality {
  std::size_t rows = 0;
  std::size_t anomalies = 0;
  double prevalence = 0.0;  ///< anomalies / rows
  Figure auroc;             ///< chance that an anomaly outscores a normal row. Random: 0.5
  Figure auprc;             ///< average precision. Random: prevalence
  std::optional<AlarmQuality> at_threshold;  ///< present where a threshold was given
  int resamples = 0;                         ///< bootstrap samples behind the intervals
  double confidence = 0.0;                   ///< of the intervals, e.g. 0.95
};

struct QualityOptions {
  std::optional<double> threshold;  ///< finite
  int resamples = 1000;             ///< 0 (no intervals: low = high = value) .. 100,000
  double confidence = 0.95;         ///< in (0, 1)
  std::uint64_t seed = 0;           ///< of the bootstrap
};

/// Computes every figure. Intervals are percentiles of a bootstrap that resamples normal rows and
/// anomalies separately, so that prevalence stays what it is; a class of up to 4,096 rows is drawn
/// with replacement row by row, a larger one by Poisson counts (Chamandy et al., "Estimating
/// uncertainty for massive data streams", 2012), which agree from a few hundred rows on. Resamples
/// without any alarm do not count for precision. Resample r uses the random numbers keyed by
/// (seed, kBootstrap, r, class): the same on every machine.
/// Cost: one sort, then at most resamples x 16,384 cells of neighbouring scores, however many rows.
/// Fails with kInvalidInput on unequal lengths, no rows, a NaN score (its row is named), rows of
/// one class only (the missing class is named), or an option out of its range.
Result<Quality> MeasureQuality(std::span<const double> scores, std::span<const std::uint8_t> labels,
                               const QualityOptions& options);

/// Area under the ROC curve: ties count one half. Fails as MeasureQuality does.
Result<double> Auroc(std::span<const double> scores, std::span<const std::uint8_t> labels);

/// Average precision: sum over distinct scores, highest first, of the gain in recall times the
/// precision there (no interpolation). Fails as MeasureQuality does.
Result<double> Auprc(std::span<const double> scores, std::span<const std::uint8_t> labels);

/// One point of the ROC and PR curves: what alarming on `score >= threshold` would give.
struct CurvePoint {
  double threshold = 0.0;
  double false_alarm_rate = 0.0;  ///< x of the ROC curve
  double recall = 0.0;            ///< y of the ROC curve, x of the PR curve
  double precision = 1.0;         ///< y of the PR curve
};

/// The curves by falling threshold, from (0, 0) with threshold +infinity to (1, 1). A point is kept
/// where it lies at least `resolution` (in (0, 1]) from the last kept one in any of the three
/// rates, and so are both ends: about 2 / resolution points however many rows, areas equal within
/// `resolution`. Fails as MeasureQuality does.
Result<std::vector<CurvePoint>> QualityCurve(std::span<const double> scores,
                                             std::span<const std::uint8_t> labels,
                                             double resolution = 0.002);

/// How the anomalies of one kind fared.
struct KindQuality {
  std::string kind;
  std::size_t rows = 0;   ///< anomalies of this kind
  std::size_t found = 0;  ///< of them, alarms
  double recall = 0.0;    ///< found / rows
  double auroc = 0.0;     ///< of this kind's anomalies against all normal rows
};

/// Splits recall and AUROC by the anomalies' kinds, in order of the kinds' names. `kinds[i]` names
/// the kind of row i; those of normal rows are not looked at. Fails as MeasureQuality does.
Result<std::vector<KindQuality>> QualityByKind(std::span<const double> scores,
                                               std::span<const std::uint8_t> labels,
                                               std::span<const std::string> kinds,
                                               double threshold);

}  // namespace ringward::learn
