#pragma once

#include <string>
#include <string_view>

#include "base/options.h"
#include "base/result.h"
#include "detect/detector.h"

namespace ringward::detect {

/// More rules than anybody reads are a mistake.
inline constexpr std::size_t kThresholdRulesMost = 64;

/// Binds --false-alarms-per-day, --worth and --silence-seconds: the rules of every subcommand that
/// runs detectors, and the plain keys of a file of rules.
void AddRuleOptions(OptionTable& table, DetectOptions& options);

/// A file of rules (docs/detectors/threshold.md): what it does not name stays as in `start`, but
/// for its [[threshold]] tables, which replace those of `start`. Errors: kInvalidInput,
/// "FILE:LINE:COLUMN: what".
Result<DetectOptions> ParseRules(std::string_view text, const std::string& file,
                                 const DetectOptions& start);

/// All rules as a file of rules: parsed again, they are the same to the bit.
std::string RulesText(const DetectOptions& options);

}  // namespace ringward::detect
