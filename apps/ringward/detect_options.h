#pragma once

#include "base/options.h"
#include "detect/detector.h"

namespace ringward::cli {

/// Binds --false-alarms-per-day, --worth and --silence-seconds: the rules of every subcommand that
/// runs detectors, and the keys of a file of rules.
void AddDetectOptions(OptionTable& table, detect::DetectOptions& options);

}  // namespace ringward::cli
