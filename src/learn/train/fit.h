#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "comm/communicator.h"
#include "learn/data/dataset.h"
#include "learn/score/model.h"
#include "learn/train/loop.h"
#include "learn/train/settings.h"

namespace ringward::learn {

/// A trained and calibrated detector with the story of its training.
struct FitResult {
  Model model;
  LoopResult loop;
  std::vector<double> training_scores;  ///< the calibration rows' scores, in row order
};

/// Trains the default detector over all ranks: rank 0's rows are shared, the ensemble is trained,
/// its residuals are whitened and its threshold calibrated on rows the scoring members never saw.
///
/// Collective: every rank calls it; `set` is given on rank 0 and null elsewhere. The result is on
/// rank 0 only. The other ranks may wait for rank 0 to read its data in the first collective, whose
/// options are `first_call`. Fails as the communicator does, kInvalidInput for data that cannot be
/// trained on.
Result<std::optional<FitResult>> Fit(comm::Communicator& comm, const TrainSettings& settings,
                                     const TrainingSet* set, const Clock& clock,
                                     const LoopHooks& hooks = {},
                                     const comm::CallOptions& first_call = {});

/// Fewest training rows a model can be made of, for the number of folds asked for.
std::size_t RowsMin(const TrainSettings& settings);

/// Fails as Fit does at once where `rows` training rows of `inputs` inputs are too few, or the net
/// is too large for this machine: kInvalidInput, kResource. Takes no memory.
Status CheckSizes(const TrainSettings& settings, std::size_t rows, std::size_t inputs, int world);

}  // namespace ringward::learn
