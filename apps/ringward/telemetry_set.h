#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "learn/data/dataset.h"
#include "learn/train/settings.h"

namespace ringward::cli {

/// What `train` reads: a table, or the healthy part of recordings as rows of telemetry.
struct ReadSet {
  learn::TrainingSet set;
  std::string features;  ///< of learn::Model
};

/// Reads --data, which is told by content: recordings (all of them, then) go through the detectors
/// first, and the steps of incidents are left out. kInvalidInput for options that mean nothing with
/// recordings, and for recordings without a healthy step; else as learn::LoadTrainingSet and the
/// recordings' reader.
Result<ReadSet> ReadTrainingSet(const learn::TrainSettings& settings);

}  // namespace ringward::cli
