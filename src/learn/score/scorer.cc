#include "learn/score/scorer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "learn/data/missing.h"

namespace ringward::learn {
namespace {

constexpr double kScoreMax = 1e300;  // keeps scores finite for rows far out of every range

double MeanSquare(const float* z, std::size_t count) {
  double sum = 0.0;
  for (std::size_t j = 0; j < count; ++j)
    sum += static_cast<double>(z[j]) * static_cast<double>(z[j]);
  return sum / static_cast<double>(count);
}

}  // namespace

double LogMemberScore(double q) {
  constexpr double kTiny = 1e-12;
  return std::log(std::min(q, kScoreMax) + kTiny);
}

void Residuals(Plan& plan, std::span<const float> x, std::size_t rows, std::span<float> out) {
  const auto members = static_cast<std::size_t>(plan.spec().members);
  RINGWARD_CHECK(out.size() == members * x.size());
  plan.Infer(x, rows, out);
  for (std::size_t m = 0; m < members; ++m) {
    float* part = out.data() + m * x.size();
    for (std::size_t k = 0; k < x.size(); ++k) part[k] = x[k] - part[k];
  }
}

std::size_t RowsAtOnce(std::size_t inputs, std::size_t members) {
  constexpr std::size_t kRowsMost = 256;
  constexpr std::size_t kResiduals = std::size_t{1} << 26U;
  return std::clamp<std::size_t>(kResiduals / (inputs * members), 1, kRowsMost);
}

double ScoreParts::FuseLog(double log_q, double d) const {
  double result = log_q;
  if (neighbours && neighbour_weight > 0.0) {
    const double distance =
        (std::min(d, kScoreMax) / neighbour_scale + neighbour_floor) / (1.0 + neighbour_floor);
    const double tiny = std::numeric_limits<double>::min();
    result =
        (log_q + neighbour_weight * std::log(std::max(distance, tiny))) / (1.0 + neighbour_weight);
  }
  const double largest = std::log(kScoreMax);
  return result <= largest ? result : largest;  // NaN counts as the largest, too
}

Scorer::Scorer(Plan& plan, const ScoreParts& parts, std::size_t batch_max)
    : plan_(plan),
      parts_(parts),
      batch_max_(batch_max),
      inputs_(static_cast<std::size_t>(plan.spec().inputs)),
      members_(static_cast<std::size_t>(plan.spec().members)),
      expectation_(plan, batch_max),
      residuals_(members_ * batch_max * inputs_),
      whitened_(batch_max * inputs_) {
  RINGWARD_CHECK(batch_max >= 1);
}

void Scorer::MemberScores(std::span<const float> x, std::size_t rows, std::span<double> out) {
  RINGWARD_CHECK(x.size() == rows * inputs_ && out.size() == rows * members_);
  RINGWARD_CHECK(parts_.whitening.size() == members_);
  for (std::size_t first = 0; first < rows; first += batch_max_) {
    const std::size_t count = std::min(batch_max_, rows - first);
    const std::size_t values = count * inputs_;
    const auto residuals = std::span(residuals_).first(members_ * values);
    Residuals(plan_, x.subspan(first * inputs_, values), count, residuals);
    const auto whitened = std::span(whitened_).first(values);
    for (std::size_t m = 0; m < members_; ++m) {
      parts_.whitening[m].Apply(residuals.subspan(m * values, values), count, whitened);
      for (std::size_t i = 0; i < count; ++i) {
        out[(first + i) * members_ + m] = MeanSquare(whitened.data() + i * inputs_, inputs_);
      }
    }
  }
}

void Scorer::NeighbourDistances(std::span<const float> x, std::size_t rows,
                                std::span<double> out) const {
  std::fill(out.begin(), out.end(), 0.0);
  if (parts_.neighbours) parts_.neighbours->Distances(x, rows, {}, out);
}

void Scorer::Score(std::span<const float> x, std::size_t rows, std::span<double> out) {
  std::vector<float> filled;
  if (AnyMissing(x)) {
    filled.assign(x.begin(), x.end());
    expectation_.FillMissing(filled, rows);
    x = filled;
  }
  std::vector<double> members(rows * members_);
  MemberScores(x, rows, members);
  NeighbourDistances(x, rows, out);
  for (std::size_t i = 0; i < rows; ++i) {
    double log_q = 0.0;
    for (std::size_t m = 0; m < members_; ++m) log_q += LogMemberScore(members[i * members_ + m]);
    out[i] = std::exp(parts_.FuseLog(log_q / static_cast<double>(members_), out[i]));
  }
}

/// Scores of the row `whole` where each of the features in turn takes the value expected of it,
/// which `contributions` notes.
void Scorer::ScoreWithout(std::span<const std::vector<std::size_t>> features,
                          std::span<const float> whole, std::span<double> scores,
                          std::span<Contribution> contributions) {
  std::vector<float> rows;
  rows.reserve(features.size() * inputs_);
  for (std::size_t f = 0; f < features.size(); ++f) {
    rows.insert(rows.end(), whole.begin(), whole.end());
  }
  expectation_.Replace(features, rows);
  Score(rows, features.size(), scores);
  for (std::size_t f = 0; f < features.size(); ++f) {
    for (const std::size_t j : features[f]) {
      contributions[f].expected.push_back(rows[f * inputs_ + j]);
    }
  }
}

std::vector<Contribution> Scorer::Explain(std::span<const float> x, double score,
                                          const FeatureGroups& features) {
  RINGWARD_CHECK(x.size() == inputs_ && !features.empty());
  std::vector<float> whole(x.begin(), x.end());
  expectation_.FillMissing(whole, 1);
  std::vector<Contribution> result(features.size());
  std::vector<double> without(features.size());
  for (std::size_t first = 0; first < features.size(); first += batch_max_) {
    const auto some =
        std::span(features).subspan(first, std::min(batch_max_, features.size() - first));
    ScoreWithout(some, whole, std::span(without).subspan(first, some.size()),
                 std::span(result).subspan(first, some.size()));
  }
  double sum = 0.0;
  for (double& value : without) {
    value = std::max(0.0, std::log(score) - std::log(value));
    sum += value;
  }
  for (std::size_t f = 0; f < features.size(); ++f) {
    const double part = sum > 0.0 ? without[f] / sum : 1.0 / static_cast<double>(features.size());
    result[f].feature = f;
    result[f].share = score * part;
  }
  std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return a.share != b.share ? a.share > b.share : a.feature < b.feature;
  });
  return result;
}

}  // namespace ringward::learn
