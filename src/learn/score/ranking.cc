#include "learn/score/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ringward::learn {

Result<Ranking> RankScores(std::span<const double> scores, std::span<const std::uint8_t> labels) {
  if (scores.size() != labels.size()) {
    return Error(Code::kInvalidInput,
                 fmt::format("{} scores for {} labels", scores.size(), labels.size()));
  }
  if (scores.empty()) return Error(Code::kInvalidInput, "no scores to evaluate");
  std::vector<std::pair<double, bool>> rows(scores.size());
  Ranking ranking;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) {
      return Error(Code::kInvalidInput, fmt::format("the score of row {} is not a number", i));
    }
    rows[i] = {scores[i], labels[i] != 0};
    ++(labels[i] != 0 ? ranking.anomalies : ranking.normals);
  }
  if (ranking.anomalies == 0) {
    return Error(Code::kInvalidInput,
                 fmt::format("no row of {} is labelled an anomaly: quality needs both classes",
                             scores.size()));
  }
  if (ranking.normals == 0) {
    return Error(
        Code::kInvalidInput,
        fmt::format("no row of {} is labelled normal: quality needs both classes", scores.size()));
  }
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [score, anomaly] : rows) {
    if (ranking.groups.empty() || ranking.groups.back().score != score) {
      ranking.groups.push_back({score, 0, 0});
    }
    ++(anomaly ? ranking.groups.back().anomalies : ranking.groups.back().normals);
  }
  return ranking;
}

}  // namespace ringward::learn
