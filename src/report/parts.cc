#include "report/parts.h"

#include <algorithm>
#include <numeric>

namespace ringward::report {

std::string DrawScores(const ScoreBins& bins, std::optional<double> threshold,
                       const std::string& title, const std::string& all_rows_name) {
  Histogram histogram;
  histogram.title = title;
  const bool labelled = !bins.anomaly.empty();
  histogram.description = labelled
                              ? "How many rows have which score. Good scores keep the two apart."
                              : "How many rows have which score.";
  if (threshold) histogram.description += " Rows right of the threshold are alarms.";
  histogram.x.label = bins.log_axis ? "score (log)" : "score";
  histogram.x.log = bins.log_axis;
  histogram.edges = bins.edges;
  histogram.groups.push_back({labelled ? "normal rows" : all_rows_name, bins.normal});
  if (labelled) histogram.groups.push_back({"anomalies", bins.anomaly});
  histogram.threshold = threshold;
  const std::size_t most = *std::max_element(bins.normal.begin(), bins.normal.end());
  histogram.log_count = most >= 100;
  return Draw(histogram);
}

}  // namespace ringward::report
