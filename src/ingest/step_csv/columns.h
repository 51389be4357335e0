#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "signal/metric.h"

namespace ringward::ingest {

/// What a column of a step table holds.
struct StepColumn {
  enum class Role { kStep, kRank, kTimestamp, kMetric, kOther };
  Role role = Role::kOther;
  signal::Known metric = signal::Known::kStepTime;  ///< for kMetric
  double to_unit = 1.0;  ///< what a value is multiplied by; seconds for times
  bool has_unit = true;  ///< false: a time in unknown units
};

/// Tells columns by their names, which are matched without case: `step`, `rank`, `timestamp`,
/// `step_seconds`, `data_ms`, `loss`, `local_grad_norm`, `batch_time`, ….
StepColumn RecogniseColumn(std::string_view name);

/// The rank in a file's name: the number behind `rank`, `worker` or `proc`, or else the
/// last number before the ending; none where there is none.
std::optional<std::int32_t> RankInName(std::string_view path);

}  // namespace ringward::ingest
