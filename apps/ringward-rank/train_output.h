#pragma once

#include <string>

#include "learn/data/dataset.h"
#include "learn/train/fit.h"
#include "learn/train/settings.h"
#include "ringward/cli/json.h"

namespace ringward::rank {

/// What `train` tells when it is done; keeps references.
struct TrainOutcome {
  const learn::TrainSettings& settings;
  const learn::TrainingSet& set;
  const learn::FitResult& fitted;
  int ranks;
  std::string engine;
};

/// Sentences about what the result cannot promise, e.g. a calibration set that is too small.
std::vector<std::string> TrainWarnings(const TrainOutcome& outcome);

/// The --json document.
cli::Json TrainJson(const TrainOutcome& outcome);
/// The same for people.
std::string TrainText(const TrainOutcome& outcome);
/// The same as a page, with the document inside.
std::string TrainReportPage(const TrainOutcome& outcome);

}  // namespace ringward::rank
