#include "learn/score/scorer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

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

double ScoreParts::Fuse(double q, double d) const {
  double score = q;
  if (neighbours && neighbour_weight > 0.0) {
    const double distance = (d / neighbour_scale + neighbour_floor) / (1.0 + neighbour_floor);
    const double tiny = std::numeric_limits<double>::min();
    score = std::exp(
        (std::log(std::max(q, tiny)) + neighbour_weight * std::log(std::max(distance, tiny))) /
        (1.0 + neighbour_weight));
  }
  return score <= kScoreMax ? score : kScoreMax;  // NaN counts as the largest, too
}

Scorer::Scorer(Plan& plan, const ScoreParts& parts, std::size_t batch_max)
    : plan_(plan),
      parts_(parts),
      batch_max_(batch_max),
      inputs_(static_cast<std::size_t>(plan.spec().inputs)),
      members_(static_cast<std::size_t>(plan.spec().members)),
      residuals_(members_ * batch_max * inputs_),
      whitened_(batch_max * inputs_) {
  RINGWARD_CHECK(batch_max >= 1);
}

void Scorer::Residuals(std::span<const float> x, std::size_t rows, std::span<float> out) {
  RINGWARD_CHECK(x.size() == rows * inputs_ && out.size() == members_ * x.size());
  plan_.Infer(x, rows, out);
  for (std::size_t m = 0; m < members_; ++m) {
    float* part = out.data() + m * x.size();
    for (std::size_t k = 0; k < x.size(); ++k) part[k] = x[k] - part[k];
  }
}

void Scorer::MemberScores(std::span<const float> x, std::size_t rows, std::span<double> out) {
  RINGWARD_CHECK(x.size() == rows * inputs_ && out.size() == rows * members_);
  RINGWARD_CHECK(parts_.whitening.size() == members_);
  for (std::size_t first = 0; first < rows; first += batch_max_) {
    const std::size_t count = std::min(batch_max_, rows - first);
    const std::size_t values = count * inputs_;
    const auto residuals = std::span(residuals_).first(members_ * values);
    Residuals(x.subspan(first * inputs_, values), count, residuals);
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
  std::vector<double> members(rows * members_);
  MemberScores(x, rows, members);
  NeighbourDistances(x, rows, out);
  for (std::size_t i = 0; i < rows; ++i) {
    double q = 0.0;
    for (std::size_t m = 0; m < members_; ++m) q += members[i * members_ + m];
    out[i] = parts_.Fuse(q / static_cast<double>(members_), out[i]);
  }
}

void Scorer::AddMemberShares(std::size_t member, std::span<const float> residual,
                             std::span<double> shares) {
  const Whitening& whitening = parts_.whitening[member];
  std::vector<float> z(inputs_);
  std::vector<float> gradient(inputs_);
  whitening.Apply(residual, 1, z);
  whitening.ApplyTransposed(z, gradient);
  const double whole = MeanSquare(z.data(), inputs_);
  std::vector<double> parts(inputs_);
  double sum = 0.0;
  for (std::size_t j = 0; j < inputs_; ++j) {
    const double g = gradient[j];
    parts[j] = g * g / precision_diagonals_[member][j];
    sum += parts[j];
  }
  if (!(sum > 0.0)) return;
  for (std::size_t j = 0; j < inputs_; ++j) shares[j] += whole * parts[j] / sum;
}

std::vector<Contribution> Scorer::Explain(std::span<const float> x, double score) {
  RINGWARD_CHECK(x.size() == inputs_);
  if (precision_diagonals_.empty()) {
    for (const auto& w : parts_.whitening) precision_diagonals_.push_back(w.PrecisionDiagonal());
  }
  const auto residuals = std::span(residuals_).first(members_ * inputs_);
  Residuals(x, 1, residuals);
  std::vector<double> shares(inputs_, 0.0);
  for (std::size_t m = 0; m < members_; ++m) {
    AddMemberShares(m, residuals.subspan(m * inputs_, inputs_), shares);
  }
  const auto normalise = [](std::vector<double>& values, double to) {
    double sum = 0.0;
    for (const double v : values) sum += v;
    for (double& v : values) v = sum > 0.0 ? v * to / sum : to / static_cast<double>(values.size());
  };
  const double weight = parts_.neighbours ? parts_.neighbour_weight : 0.0;
  normalise(shares, score / (1.0 + weight));
  if (weight > 0.0) {
    std::vector<double> distances(inputs_);
    parts_.neighbours->DistanceByFeature(x, distances);
    normalise(distances, score * weight / (1.0 + weight));
    for (std::size_t j = 0; j < inputs_; ++j) shares[j] += distances[j];
  }
  std::vector<Contribution> result;
  for (std::size_t j = 0; j < inputs_; ++j) {
    double residual = 0.0;
    for (std::size_t m = 0; m < members_; ++m) residual += residuals[m * inputs_ + j];
    const double seen = x[j];
    result.push_back({j, shares[j], seen - residual / static_cast<double>(members_), seen});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.share > b.share; });
  return result;
}

}  // namespace ringward::learn
