#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/dense/isa.h"
#include "learn/dense/net_spec.h"

namespace ringward::learn {

/// Names a row's random numbers, so that they do not depend on the rank or batch it lands in.
struct RowKey {
  std::uint64_t row = 0;  ///< index in the training set
  std::uint32_t epoch = 0;
};

/// Where one weight matrix or bias vector lies in parameters() and gradients().
struct TensorView {
  std::string name;                ///< "members.0.layers.1.weight" or ".bias"
  std::vector<std::size_t> shape;  ///< weight: {inputs, outputs}, row-major; bias: {outputs}
  std::size_t offset = 0;          ///< of its first value, in floats
};

struct PlanOptions {
  std::size_t batch_max = 1;  ///< largest number of rows of one call, >= 1
  bool training = true;       ///< false: only Infer and Evaluate, without memory for gradients
  Isa isa = BestIsa();        ///< one of AvailableIsas()
};

/// A static training plan: shapes fixed, workspace allocated once, nothing allocated per step.
///
/// Parameters and gradients are two flat float32 spans (per member, per layer: W [in, out]
/// row-major, then b [out], without gaps; see tensors()); reduction, optimizers and checkpoints
/// work on those and know no layers. Not safe for concurrent use; works on the calling thread.
///
/// The same call with the same values gives the same bits, in every process on processors with
/// the same instruction set; a row's loss and output do not depend on the other rows nor on its
/// position. Spans of the wrong length are programmer's errors (CHECK).
class Plan {
 public:
  /// Fails with kInvalidInput naming what in `spec` or `options` is out of its range, kResource
  /// when memory lacks.
  static Result<std::unique_ptr<Plan>> Make(const NetSpec& spec, const PlanOptions& options);
  static Result<std::unique_ptr<Plan>> Make(const NetSpec& spec, std::size_t batch_max) {
    return Make(spec, PlanOptions{.batch_max = batch_max});
  }
  /// Fails as Make would, without taking the memory.
  static Status Check(const NetSpec& spec, const PlanOptions& options);
  virtual ~Plan() = default;

  virtual const NetSpec& spec() const = 0;
  /// Where they are changed through a span got here, call parameters() again for every change:
  /// the weights are read anew by the next Forward, Evaluate or Infer after a call, not later.
  virtual std::span<float> parameters() = 0;
  /// Empty unless made for training.
  virtual std::span<float> gradients() = 0;
  /// Every tensor, by rising offset; together they cover parameters() without gaps.
  virtual std::vector<TensorView> tensors() const = 0;

  /// Fills the parameters from `seed`: the same on every machine and rank. Weights and biases are
  /// uniform in +-sqrt(6 / inputs of the layer) (He et al., "Delving deep into rectifiers", 2015).
  virtual void Initialize(std::uint64_t seed) = 0;

  /// Forward in training mode. `x` is [rows, inputs], `target` [rows, outputs] (may be the same
  /// span as x); 1 <= rows <= batch_max; `keys` has one entry a row (may be empty where the spec
  /// has neither noise nor dropout). All values must be finite.
  /// Writes each row's and member's mean squared error over outputs into `losses` [rows, members].
  virtual void Forward(std::span<const float> x, std::span<const float> target,
                       std::span<const RowKey> keys, std::uint64_t seed,
                       std::span<float> losses) = 0;

  /// Adds to nothing: overwrites gradients() with the gradient of
  /// sum over rows and members of weights[row, member] * loss[row, member] of the last Forward,
  /// of which it may be called once; no Infer or Evaluate between. The parameters must not have
  /// changed since. `weights` is [rows, members]; a zero leaves that row out for that member.
  virtual void Backward(std::span<const float> weights) = 0;

  /// The losses that Forward writes, without noise and dropout.
  virtual void Evaluate(std::span<const float> x, std::span<const float> target,
                        std::span<float> losses) = 0;

  /// Outputs without noise and dropout: `out` is [members, rows, outputs]. rows <= batch_max.
  virtual void Infer(std::span<const float> x, std::size_t rows, std::span<float> out) = 0;
};

/// The tensors of a plan of `spec`, without its memory. REQUIRES: CheckSpec(spec) holds.
std::vector<TensorView> TensorsOf(const NetSpec& spec);

}  // namespace ringward::learn
