#pragma once

#include <optional>
#include <string>

#include "signal/cause.h"
#include "signal/metric.h"

namespace ringward::detect {

/// A plain limit that a user has set: [[threshold]] in a file of rules.
struct ThresholdRule {
  std::string name;  ///< lower-case letters, digits, '-': the cause that people are told
  signal::Known metric = signal::Known::kStepTime;
  std::optional<double> above{};  ///< in the metric's unit; exactly one of the two is given
  std::optional<double> below{};
  double for_seconds = 0.0;  ///< that a rank must be beyond it without a report to the contrary
  signal::Severity severity = signal::Severity::kWarning;
  signal::Category category = signal::Category::kResourceContention;

  friend bool operator==(const ThresholdRule&, const ThresholdRule&) = default;
};

}  // namespace ringward::detect
