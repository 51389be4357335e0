#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "comm/communicator.h"
#include "learn/data/window.h"
#include "learn/dense/optimizer.h"
#include "learn/dense/plan.h"
#include "learn/train/gradient_step.h"
#include "learn/train/indicators.h"
#include "telemetry/guest/recorder.h"

namespace ringward::learn {

/// How long and with what rate to train. Steps, not epochs, decide, so that small and large tables
/// get the same number of updates.
struct LoopOptions {
  std::size_t global_batch = 128;  ///< rows of a step over all ranks, >= 1
  std::int64_t steps = 1500;       ///< optimizer steps at most, >= 1
  double learning_rate = 1e-3;     ///< of the first step after warm-up, > 0
  double final_rate_share = 1.0;   ///< cosine decay down to this share of the rate, in [0, 1]
  std::int64_t warmup_steps = 0;   ///< linear warm-up, >= 0
  int patience = 0;                ///< epochs without a better validation loss before it stops
                                   ///< and the best parameters return; 0 = never
  StepOptions step;
};

/// One pass over the training rows (the last one may be cut short by `steps`).
struct EpochRecord {
  int epoch = 0;                 ///< from 0
  std::int64_t steps = 0;        ///< optimizer steps done by its end
  double train_loss = 0.0;       ///< mean squared error in standardised units, noise and dropout on
  double left_out_loss = 0.0;    ///< the same on rows a member leaves out; NaN without folds
  double validation_loss = 0.0;  ///< without noise on the rows set apart; NaN without them
  double learning_rate = 0.0;    ///< of its last step
  double rows_per_second = 0.0;  ///< over all ranks
};

struct LoopResult {
  std::vector<EpochRecord> epochs;
  std::int64_t steps = 0;
  double seconds = 0.0;  ///< wall time of the loop on this rank
  double rows_per_second = 0.0;
  bool stopped_early = false;
  double best_validation_loss = 0.0;  ///< NaN without validation rows
};

/// Told on every rank of its steps; null members are skipped. Must not block.
struct LoopHooks {
  std::function<void(std::int64_t step, double rows_per_second, double loss)> on_step;
  /// Gets every step with its phases, local loss, local gradient norm, rows and learning rate. It
  /// learns of collectives from the communicator's observer (recording_observer.h).
  telemetry::Recorder* recorder = nullptr;
};

/// Everything the loop works on; the caller owns all of it.
struct LoopContext {
  comm::Communicator& comm;
  Plan& plan;
  const WindowedRows& rows;  ///< training set, the same on every rank
  const Folds& folds;
  std::span<const std::uint32_t> train_rows;       ///< rows to learn from, at least one
  std::span<const std::uint32_t> validation_rows;  ///< may be empty
  const Clock& clock;
  std::span<const Indicator> indicators = {};  ///< hidden from the nets; may be empty
};

/// Trains `context.plan` in place with a synchronous data-parallel loop: parameters of rank 0 are
/// broadcast, then every rank takes the same number of steps and ends with equal parameters.
/// Fails as the communicator does; kInvalidInput for an option out of range or a diverged loss.
Result<LoopResult> TrainLoop(const LoopContext& context, Optimizer& optimizer,
                             const LoopOptions& options, const LoopHooks& hooks = {});

/// Learning rate of `step` (from 0) under warm-up and cosine decay.
double RateAt(const LoopOptions& options, std::int64_t step);

/// Mean squared error over `rows` without noise, over all members; computed over all ranks in
/// pieces whose composition does not depend on their number, so it is bit-equal on any world size.
Result<double> MeanLoss(comm::Communicator& comm, Plan& plan, const WindowedRows& data,
                        std::span<const std::uint32_t> rows, std::size_t piece_rows);

}  // namespace ringward::learn
