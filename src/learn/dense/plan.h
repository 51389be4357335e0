#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace ringward::learn {

enum class Activation { kIdentity, kRelu, kLeakyRelu, kTanh, kSigmoid, kGelu };

/// One fully connected layer: y = activation(x W + b).
struct LayerSpec {
  int width = 0;  ///< outputs, 1 .. 1,000,000
  Activation activation = Activation::kIdentity;
  double dropout = 0.0;  ///< share of this layer's outputs zeroed while training, in [0, 1)
};

/// E feed-forward nets of one shape, trained side by side in one plan.
struct NetSpec {
  int inputs = 0;                  ///< features of a row, >= 1
  std::vector<LayerSpec> layers;   ///< at least one; the last one's width is the output's
  int members = 1;                 ///< E >= 1: nets that share the shape, not the parameters
  std::vector<float> input_noise;  ///< per member: sd of Gaussian noise added to inputs while
                                   ///< training; empty = none
};

/// Names a row's random numbers, so that they do not depend on the rank or batch it lands in.
struct RowKey {
  std::uint64_t row = 0;  ///< index in the training set
  std::uint32_t epoch = 0;
};

/// A static training plan: shapes fixed, workspace allocated once, nothing allocated per step.
///
/// Parameters and gradients are two flat float32 spans (per member, per layer: W [in, out]
/// row-major, then b [out]); reduction, optimizers and checkpoints work on those and know no
/// layers. Not safe for concurrent use. Products run on one thread.
class Plan {
 public:
  /// Fails with kInvalidInput when `spec` is outside its ranges, kResource when memory lacks.
  /// `batch_max` is the largest number of rows of one call, >= 1.
  static Result<std::unique_ptr<Plan>> Make(const NetSpec& spec, std::size_t batch_max);
  virtual ~Plan() = default;

  virtual const NetSpec& spec() const = 0;
  virtual std::span<float> parameters() = 0;
  virtual std::span<float> gradients() = 0;

  /// Fills the parameters from `seed`: the same on every machine and rank.
  virtual void Initialize(std::uint64_t seed) = 0;

  /// Forward in training mode. `x` is [rows, inputs], `target` [rows, outputs]; rows <= batch_max;
  /// `keys` has one entry a row (may be empty where the spec has neither noise nor dropout).
  /// Writes each row's and member's mean squared error over outputs into `losses` [rows, members].
  virtual void Forward(std::span<const float> x, std::span<const float> target,
                       std::span<const RowKey> keys, std::uint64_t seed,
                       std::span<float> losses) = 0;

  /// Adds to nothing: overwrites gradients() with the gradient of
  /// sum over rows and members of weights[row, member] * loss[row, member] of the last Forward.
  /// `weights` is [rows, members]; a zero leaves that row out for that member.
  virtual void Backward(std::span<const float> weights) = 0;

  /// Outputs without noise and dropout: `out` is [members, rows, outputs]. rows <= batch_max.
  virtual void Infer(std::span<const float> x, std::size_t rows, std::span<float> out) = 0;
};

}  // namespace ringward::learn
