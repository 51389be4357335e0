#pragma once

#include <string>

#include "base/options.h"
#include "base/result.h"
#include "detect/detector.h"

namespace ringward::cli {

/// Binds --rules FILE.
void AddRulesFileOption(OptionTable& table, std::string& file);

/// Reads a file of rules over those that the command line gives; without a file those alone.
/// kInvalidInput, naming file, line and column; kResource where the file cannot be read.
Result<detect::DetectOptions> ReadRules(const std::string& file,
                                        const detect::DetectOptions& given);

/// Whether the command line names any rule.
bool GivesRules(const OptionTable& table);

}  // namespace ringward::cli
