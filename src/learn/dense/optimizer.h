#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/dense/isa.h"

namespace ringward::learn {

/// Settings of every optimizer; each uses those that concern it.
struct OptimizerOptions {
  std::string kind = "adam";    ///< sgd, adam, adamw
  double learning_rate = 1e-3;  ///< > 0
  double momentum = 0.0;        ///< sgd: in [0, 1)
  double beta1 = 0.9;           ///< adam, adamw: in [0, 1)
  double beta2 = 0.999;         ///< adam, adamw: in [0, 1)
  double epsilon = 1e-8;        ///< adam, adamw: > 0
  double weight_decay = 0.0;    ///< >= 0; adamw decouples it, the others add it to the gradient
};

/// Updates a flat span of parameters from a flat span of gradients of the same length.
/// Not safe for concurrent use. Every rank holds its own, with equal state.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// One fused pass. REQUIRES: both spans have the length given to MakeOptimizer.
  virtual void Step(std::span<float> parameters, std::span<const float> gradients) = 0;
  virtual void SetLearningRate(double rate) = 0;
  /// State for checkpoints: what Step reads beside parameters and gradients.
  virtual std::vector<std::span<float>> state() = 0;
  virtual std::int64_t steps() const = 0;
  virtual void SetSteps(std::int64_t steps) = 0;
};

/// Fails with kInvalidInput naming the option that is out of its range.
/// REQUIRES: `isa` is among AvailableIsas().
Result<std::unique_ptr<Optimizer>> MakeOptimizer(const OptimizerOptions& options,
                                                 std::size_t parameters, Isa isa = BestIsa());

}  // namespace ringward::learn
