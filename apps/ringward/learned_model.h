#pragma once

#include <string>

#include "base/options.h"
#include "base/result.h"
#include "detect/detector.h"

namespace ringward::cli {

/// Binds --model DIR of what runs detectors.
void AddLearnedModelOption(OptionTable& table, std::string& folder);

/// Adds the detector of the model in `folder`, where there is one. Errors as learn::LoadModel, and
/// kInvalidInput for a model of something else than jobs' numbers.
Status AddLearnedModel(const std::string& folder, detect::DetectOptions& options);

}  // namespace ringward::cli
