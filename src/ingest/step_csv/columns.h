#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "signal/metric.h"

namespace ringward::ingest {

/// What a column of a step table holds.
struct StepColumn {
  enum class Role { kStep, kRank, kLocalRank, kHost, kTimestamp, kMetric, kOther };
  Role role = Role::kOther;
  signal::Known metric = signal::Known::kStepTime;  ///< for kMetric
  /// What a value is multiplied by; seconds for times. 0: a timestamp whose unit its size tells.
  double to_unit = 1.0;
  bool has_unit = true;  ///< false: a time in unknown units
  /// Of a timestamp: its name (`time`, `time_ms`) fits the length of a step as well.
  bool maybe_step_time = false;
  bool part = false;   ///< of a metric that is the sum of such columns: forward, backward, …
  int preference = 0;  ///< of several columns of one role, or metric, the lowest counts
};

/// Tells columns by their names, whatever their case and punctuation (`stepTime`, `Step time [ms]`
/// and `step_time_ms` are one name): `step`, `rank`, `timestamp`, `data_ms`, `loss`, ….
StepColumn RecogniseColumn(std::string_view name);

/// The same for a whole header, where one column of a role or metric counts, and a `time` beside
/// a timestamp is the length of the step.
std::vector<StepColumn> RecogniseHeader(const std::vector<std::string>& names);

/// The rank in a file's name: the number behind `rank`, `worker` or `proc`, or else the
/// last number before the ending; none where there is none.
std::optional<std::int32_t> RankInName(std::string_view path);

/// Whether that number stands behind one of these words.
bool NamesRank(std::string_view path);

/// The rank in a cell: a whole number from 0, or the number that ends a text (`worker-3`).
std::optional<std::int32_t> RankInCell(std::string_view text);

}  // namespace ringward::ingest
