#include "learn/score/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ringward::learn {
namespace {

constexpr double kLogAxisSpread = 50.0;  // largest / median above which a linear axis hides all

bool WantsLogAxis(std::span<const double> scores, double low, double high) {
  if (low <= 0.0) return false;
  std::vector<double> sorted(scores.begin(), scores.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return high / *middle > kLogAxisSpread;
}

std::vector<double> MakeEdges(double low, double high, std::size_t bins, bool log_axis) {
  std::vector<double> edges(bins + 1);
  for (std::size_t i = 0; i <= bins; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(bins);
    edges[i] = log_axis ? low * std::pow(high / low, t) : low + (high - low) * t;
  }
  edges.front() = low;
  edges.back() = high;
  return edges;
}

Status CheckScores(std::span<const double> scores, std::span<const std::uint8_t> labels,
                   std::size_t bins) {
  if (scores.empty()) return Error(Code::kInvalidInput, "no scores to count");
  if (!labels.empty() && labels.size() != scores.size()) {
    return Error(Code::kInvalidInput,
                 fmt::format("{} scores for {} labels", scores.size(), labels.size()));
  }
  if (bins < 1 || bins > 10'000) {
    return Error(Code::kInvalidInput, fmt::format("bins is {}, should be in 1 .. 10000", bins));
  }
  const auto bad = std::find_if_not(scores.begin(), scores.end(),
                                    [](double score) { return std::isfinite(score); });
  if (bad != scores.end()) {
    return Error(Code::kInvalidInput, fmt::format("the score of row {} is {}, should be finite",
                                                  bad - scores.begin(), *bad));
  }
  return Ok();
}

}  // namespace

Result<ScoreHistogram> MakeScoreHistogram(std::span<const double> scores,
                                          std::span<const std::uint8_t> labels, std::size_t bins) {
  RINGWARD_TRY(CheckScores(scores, labels, bins));
  const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
  double low = *least;
  double high = *most;
  ScoreHistogram histogram;
  histogram.log_axis = WantsLogAxis(scores, low, high);
  if (low == high) {  // one value: a bin of some width around it
    const double half = low == 0.0 ? 0.5 : std::abs(low) * 0.5;
    low -= half;
    high += half;
  }
  histogram.edges = MakeEdges(low, high, bins, histogram.log_axis);
  histogram.normal.resize(bins);
  if (!labels.empty()) histogram.anomaly.resize(bins);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto above = std::upper_bound(histogram.edges.begin(), histogram.edges.end(), scores[i]);
    const auto edge = static_cast<std::size_t>(above - histogram.edges.begin());
    const std::size_t bin = std::clamp<std::size_t>(edge, 1, bins) - 1;
    const bool anomaly = !labels.empty() && labels[i] != 0;
    ++(anomaly ? histogram.anomaly : histogram.normal)[bin];
  }
  return histogram;
}

}  // namespace ringward::learn
