#include "learn/score/bootstrap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace ringward::learn {
namespace {

// Up to here a class is resampled row by row: Poisson totals vary too much for a handful of rows.
constexpr std::size_t kExactRowsMax = 4096;
constexpr std::uint32_t kInversionMeanMax = 12;
constexpr std::size_t kTableSize = 48;  // P(Poisson(12) >= 48) < 1e-13

using PoissonTable = std::array<std::array<double, kTableSize>, kInversionMeanMax + 1>;

/// Cumulative probabilities of each small mean.
PoissonTable MakePoissonTable() {
  PoissonTable table{};
  for (std::size_t mean = 0; mean <= kInversionMeanMax; ++mean) {
    double term = std::exp(-static_cast<double>(mean));
    double sum = 0.0;
    for (std::size_t k = 0; k < kTableSize; ++k) {
      sum += term;
      table[mean][k] = sum;
      term *= static_cast<double>(mean) / static_cast<double>(k + 1);
    }
    table[mean][kTableSize - 1] = 2.0;  // ends every search
  }
  return table;
}

std::uint32_t DrawByRejection(double mean, Rng& rng) {
  const double log_mean = std::log(mean);
  const double b = 0.931 + 2.53 * std::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2.0);
  while (true) {
    const double u = rng.Uniform() - 0.5;
    const double v = rng.Uniform();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2.0 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_r) return static_cast<std::uint32_t>(k);
    if (k < 0.0 || (us < 0.013 && v > us)) continue;
    // log k! by Stirling's series: lgamma writes a global and is not safe for threads.
    const double n = k + 1.0;
    const double log_factorial = k < 1.0 ? 0.0
                                         : (n - 0.5) * std::log(n) - n + 0.9189385332046727 +
                                               1.0 / (12.0 * n) - 1.0 / (360.0 * n * n * n);
    if (std::log(v * inverse_alpha / (a / (us * us) + b)) <= k * log_mean - mean - log_factorial) {
      return static_cast<std::uint32_t>(k);
    }
  }
}

/// Draws one class's counts: with replacement where it is small, Poisson where it is large.
class ClassResampler {
 public:
  explicit ClassResampler(const std::vector<std::uint32_t>& counts) : counts_(counts) {
    const std::size_t rows = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    if (rows > kExactRowsMax) return;
    for (std::size_t cell = 0; cell < counts.size(); ++cell) {
      cell_of_row_.insert(cell_of_row_.end(), counts[cell], static_cast<std::uint32_t>(cell));
    }
  }
  void Draw(Rng rng, std::vector<std::uint32_t>& drawn) const {
    if (cell_of_row_.empty()) {
      std::transform(counts_.begin(), counts_.end(), drawn.begin(),
                     [&rng](std::uint32_t count) { return DrawPoisson(count, rng); });
      return;
    }
    std::fill(drawn.begin(), drawn.end(), 0U);
    for (std::size_t i = 0; i < cell_of_row_.size(); ++i) {
      ++drawn[cell_of_row_[rng.Below(cell_of_row_.size())]];
    }
  }

 private:
  const std::vector<std::uint32_t>& counts_;
  std::vector<std::uint32_t> cell_of_row_;
};

}  // namespace

std::uint32_t DrawPoisson(std::uint32_t mean, Rng& rng) {
  static const PoissonTable kTable = MakePoissonTable();
  if (mean == 0) return 0;
  if (mean > kInversionMeanMax) return DrawByRejection(static_cast<double>(mean), rng);
  const double u = (static_cast<double>(rng()) + 0.5) * 0x1p-32;
  std::uint32_t k = 0;
  while (kTable[mean][k] <= u) ++k;
  return k;
}

CountedCells::CountedCells(const Ranking& ranking, double threshold, std::size_t resolution) {
  const std::size_t anomalies_max = resolution > 0 ? ranking.anomalies / resolution : 0;
  const std::size_t normals_max = resolution > 0 ? ranking.normals / resolution : 0;
  bool was_alarm = true;
  for (const ScoreGroup& group : ranking.groups) {
    const bool alarm = group.score > threshold;
    if (!normals_.empty() && alarm == was_alarm) {
      const std::size_t anomalies = anomalies_.back() + group.anomalies;
      const std::size_t normals = normals_.back() + group.normals;
      if (anomalies == 0 || (anomalies <= anomalies_max && normals <= normals_max)) {
        anomalies_.back() = static_cast<std::uint32_t>(anomalies);
        normals_.back() = static_cast<std::uint32_t>(normals);
        continue;
      }
    }
    normals_.push_back(static_cast<std::uint32_t>(group.normals));
    anomalies_.push_back(static_cast<std::uint32_t>(group.anomalies));
    alarm_cells_ += alarm ? 1 : 0;
    was_alarm = alarm;
  }
}

RankingFigures CountedCells::Figures() const { return FiguresOf(normals_, anomalies_); }

RankingFigures CountedCells::FiguresOf(const Counts& normals, const Counts& anomalies) const {
  double found = 0.0;
  double wrong = 0.0;
  double pairs = 0.0;          // (anomaly, normal) in the right order; a tie is half a pair
  double precision_sum = 0.0;  // of the precision at each anomaly's score
  double found_at_alarm = 0.0;
  double wrong_at_alarm = 0.0;
  for (std::size_t cell = 0; cell < normals.size(); ++cell) {
    if (cell == alarm_cells_) {
      found_at_alarm = found;
      wrong_at_alarm = wrong;
    }
    const double n = normals[cell];
    const double p = anomalies[cell];
    pairs += n * (found + 0.5 * p);
    found += p;
    wrong += n;
    if (p > 0.0) precision_sum += p * found / (found + wrong);
  }
  if (alarm_cells_ == normals.size()) {
    found_at_alarm = found;
    wrong_at_alarm = wrong;
  }
  return {pairs / (found * wrong), precision_sum / found,
          found_at_alarm / (found_at_alarm + wrong_at_alarm), found_at_alarm / found,
          wrong_at_alarm / wrong};
}

std::vector<RankingFigures> CountedCells::Resample(std::uint64_t seed, int resamples) const {
  const ClassResampler draw_normals(normals_);
  const ClassResampler draw_anomalies(anomalies_);
  Counts normals(normals_.size());
  Counts anomalies(anomalies_.size());
  std::vector<RankingFigures> samples;
  samples.reserve(static_cast<std::size_t>(resamples));
  for (int r = 0; r < resamples; ++r) {
    const auto sample = static_cast<std::uint64_t>(r);
    draw_normals.Draw(Rng(seed, RngPurpose::kBootstrap, sample, 0), normals);
    draw_anomalies.Draw(Rng(seed, RngPurpose::kBootstrap, sample, 1), anomalies);
    samples.push_back(FiguresOf(normals, anomalies));
  }
  return samples;
}

}  // namespace ringward::learn
