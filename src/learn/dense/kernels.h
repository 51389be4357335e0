#pragma once

#include <cstddef>
#include <cstdint>

#include "learn/dense/isa.h"
#include "learn/dense/net_spec.h"

namespace ringward::learn {

/// Rows of one panel. Activations are kept as panels [panel][feature][16 rows], so that a vector
/// register holds one feature of 16, 8 or 4 rows: every width is efficient, also 3 and 10.
inline constexpr std::size_t kPanelRows = 16;

/// `width` features of consecutive panels; panel p starts at data + p * stride floats.
struct Panels {
  float* data = nullptr;
  std::size_t stride = 0;
  std::size_t width = 0;
  // Inlined in every build: the linker must not share one copy among instruction sets.
  [[gnu::always_inline]] float* At(std::size_t panel) const { return data + panel * stride; }
};

/// The names of a panel's rows, as words of a random counter (see kernel/random.h).
struct PanelKeys {
  std::uint32_t row_low[kPanelRows];
  std::uint32_t row_high[kPanelRows];
  std::uint32_t epoch[kPanelRows];
};

/// A stream of random numbers for every row: 64-bit key, counters from `rows` and the index.
struct RowStream {
  std::uint32_t key[2] = {0, 0};
  const PanelKeys* rows = nullptr;  ///< one entry a panel
};

struct DropoutArgs {
  RowStream stream;
  std::uint32_t drop_below = 0;  ///< a unit is dropped when its random word is below this
  float keep_scale = 1.0F;       ///< 1 / (1 - share dropped)
};

struct ForwardArgs {
  Panels x;                       ///< inputs
  Panels y;                       ///< outputs, written
  std::size_t panels = 0;         ///< number of panels
  const float* packed = nullptr;  ///< weights as pack_weights writes them
  const float* bias = nullptr;    ///< [y.width]
  Activation activation = Activation::kIdentity;
  float* slope = nullptr;                ///< where not null: panels shaped as y, written: dy/dz
  const DropoutArgs* dropout = nullptr;  ///< needs slope
};

/// delta of a layer's inputs from the delta of its outputs; `slope` or `y` belong to the layer
/// that made those inputs.
struct InputDeltaArgs {
  Panels delta;        ///< of the outputs
  Panels input_delta;  ///< written
  std::size_t panels = 0;
  const float* weights = nullptr;  ///< [input_delta.width, delta.width]
  const float* y = nullptr;        ///< the inputs, shaped as input_delta
  const float* slope = nullptr;    ///< used instead of y where not null
  Activation activation = Activation::kIdentity;
};

struct GradientArgs {
  Panels x;
  Panels delta;
  std::size_t panels = 0;
  float* scratch = nullptr;  ///< panels * 256 floats
  float* weights = nullptr;  ///< [x.width, delta.width], written
  float* bias = nullptr;     ///< [delta.width], written
};

struct OutputDeltaArgs {
  Panels y;
  Panels target;
  Panels delta;  ///< written
  std::size_t panels = 0;
  const float* row_weight = nullptr;  ///< [panels * 16], already times 2 / outputs
  const float* slope = nullptr;       ///< used instead of y where not null
  Activation activation = Activation::kIdentity;
};

struct AdamArgs {
  float* parameters = nullptr;
  const float* gradients = nullptr;
  float* first = nullptr;   ///< moving mean of gradients
  float* second = nullptr;  ///< moving mean of squared gradients
  std::size_t count = 0;
  float beta1 = 0, beta2 = 0, epsilon = 0;
  float step = 0;          ///< learning rate / (1 - beta1^t)
  float second_scale = 0;  ///< 1 / sqrt(1 - beta2^t)
  float l2 = 0;            ///< added to the gradient times the parameter
  float shrink = 1;        ///< parameters are multiplied by this first (AdamW)
};

struct SgdArgs {
  float* parameters = nullptr;
  const float* gradients = nullptr;
  float* velocity = nullptr;
  std::size_t count = 0;
  float momentum = 0, step = 0, l2 = 0;
};

/// The inner loops, compiled once per instruction set from the same source (kernel/*.h). All
/// panels of one call have the same number of rows; rows beyond the batch's end are zero in
/// inputs and have weight zero. Buffers of panels are aligned to 64 bytes; nothing allocates.
struct Kernels {
  Isa isa;
  /// Row-major [rows, cols] to panels, and back. Rows missing in the last panel become zero.
  void (*to_panels)(const float* rows_major, std::size_t rows, const Panels& out);
  void (*from_panels)(const Panels& in, std::size_t rows, float* rows_major);
  /// Weights [in, out] in the order in which `forward` reads them. Reads up to 16 floats beyond
  /// the end of `weights`, writes up to 16 beyond in * out of `packed`.
  void (*pack_weights)(const float* weights, std::size_t in, std::size_t out, float* packed);
  void (*forward)(const ForwardArgs& args);
  /// Mean over features of (y - target)^2 of each row: `losses` [panels * 16].
  void (*loss)(const Panels& y, const Panels& target, std::size_t panels, float* losses);
  void (*output_delta)(const OutputDeltaArgs& args);
  void (*input_delta)(const InputDeltaArgs& args);
  void (*gradient)(const GradientArgs& args);
  /// out = in + sd * normal numbers.
  void (*add_noise)(const Panels& in, const RowStream& stream, float sd, std::size_t panels,
                    const Panels& out);
  void (*adam)(const AdamArgs& args);
  void (*sgd)(const SgdArgs& args);
  /// Only multiply-adds in registers, multiply_add_flops a turn: the most that the core can do.
  float (*multiply_adds)(std::size_t turns);
  double multiply_add_flops;
};

/// REQUIRES: `isa` is among AvailableIsas().
const Kernels& KernelsFor(Isa isa);

}  // namespace ringward::learn
