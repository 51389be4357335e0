#include "learn/dense/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "learn/dense/flush_denormals.h"
#include "learn/dense/kernels.h"
#include "learn/dense/panel_buffer.h"
#include "learn/dense/spec_check.h"
#include "learn/dense/workspace.h"

namespace ringward::learn {
namespace {

/// Panels that go through all layers before the next ones: 64 rows, whose activations then stay in
/// the level-2 cache.
constexpr std::size_t kBlockPanels = 4;

/// The panels from `first` on.
Panels From(const Panels& panels, std::size_t first) {
  return {panels.At(first), panels.stride, panels.width};
}

/// One layer's place in a member's parameters, and its shape.
struct Layer {
  std::size_t in = 0, out = 0;
  std::size_t weight = 0, bias = 0;  ///< offsets in a member's parameters
  Activation activation = Activation::kIdentity;
  DropoutArgs dropout;       ///< used where drop_below > 0
  bool keeps_slope = false;  ///< gelu and dropout: the slope cannot be told from the output
};

/// What one member keeps of a layer between Forward and Backward: workspace handles.
struct Kept {
  std::size_t y = 0, slope = 0;
};

class DensePlan final : public Plan {
 public:
  DensePlan(const NetSpec& spec, const PlanOptions& options)
      : spec_(spec), options_(options), kernels_(KernelsFor(options.isa)) {
    MakeLayers();
    ReserveAll();
  }

  Status Check() const { return space_.Check(); }
  Status Allocate();

  const NetSpec& spec() const override { return spec_; }
  std::span<float> parameters() override {
    packed_is_current_ = false;
    return {space_.At(parameters_), Count()};
  }
  std::span<float> gradients() override {
    if (!options_.training) return {};
    return {space_.At(gradients_), Count()};
  }
  std::vector<TensorView> tensors() const override;
  void Initialize(std::uint64_t seed) override;
  void Forward(std::span<const float> x, std::span<const float> target,
               std::span<const RowKey> keys, std::uint64_t seed, std::span<float> losses) override;
  void Backward(std::span<const float> weights) override;
  void Evaluate(std::span<const float> x, std::span<const float> target,
                std::span<float> losses) override;
  void Infer(std::span<const float> x, std::size_t rows, std::span<float> out) override;

 private:
  std::size_t Members() const { return static_cast<std::size_t>(spec_.members); }
  std::size_t Inputs() const { return layers_.front().in; }
  std::size_t Outputs() const { return layers_.back().out; }
  std::size_t Count() const { return Members() * member_size_; }
  float NoiseSd(std::size_t member) const {
    return spec_.input_noise.empty() ? 0.0F : spec_.input_noise[member];
  }
  Panels View(std::size_t handle, std::size_t width) const {
    return {space_.At(handle), PanelStride(width), width};
  }
  Panels MemberInput(std::size_t member) const {
    return View(NoiseSd(member) > 0 ? noisy_[member] : input_, Inputs());
  }
  const Kept& KeptOf(std::size_t member, std::size_t layer) const {
    return kept_[member * layers_.size() + layer];
  }
  const float* SlopeOf(std::size_t member, std::size_t layer) const {
    return layers_[layer].keeps_slope ? space_.At(KeptOf(member, layer).slope) : nullptr;
  }

  void MakeLayers();
  void ReserveAll();
  double PanelsHeld() const;
  void ReserveKept(double panels);
  void SetRows(std::size_t rows);
  void LoadBatch(std::span<const float> x, std::span<const float> target);
  void FillKeys(std::span<const RowKey> keys);
  RowStream Stream(std::uint64_t seed, RngPurpose purpose, std::size_t member,
                   std::size_t layer) const;
  void PackWeights();
  ForwardArgs LayerArgs(std::size_t member, std::size_t layer) const;
  void ForwardMember(std::size_t member, std::uint64_t seed);
  void ForwardBlock(std::size_t member, std::uint64_t seed, std::size_t first, std::size_t panels);
  Panels InferBlock(std::size_t member, std::size_t panels);
  Panels LoadBlock(std::span<const float> values, std::size_t first, std::size_t panels,
                   const Panels& to);
  void CopyLosses(std::size_t member, std::size_t first, std::size_t rows,
                  std::span<float> losses) const;
  std::size_t BlockRows(std::size_t first, std::size_t panels) const {
    return std::min(panels * kPanelRows, rows_ - first * kPanelRows);
  }
  /// Calls body(first panel, number of panels) for every block of the batch.
  template <typename Body>
  void ForBlocks(Body&& body) {
    for (std::size_t first = 0; first < panels_; first += kBlockPanels) {
      body(first, std::min(kBlockPanels, panels_ - first));
    }
  }
  void BackwardMember(std::size_t member);

  NetSpec spec_;
  PlanOptions options_;
  const Kernels& kernels_;
  std::vector<Layer> layers_;
  std::size_t member_size_ = 0;
  std::size_t width_max_ = 0;

  Workspace space_;
  std::size_t parameters_ = 0, gradients_ = 0;
  std::size_t input_ = 0, target_ = 0;
  std::size_t delta_[2] = {0, 0};  ///< deltas of two layers; Infer keeps outputs there
  std::size_t packed_ = 0, scratch_ = 0, row_values_ = 0;
  std::vector<std::size_t> noisy_;  ///< per member
  std::vector<Kept> kept_;          ///< [member, layer]
  std::vector<PanelKeys> keys_;

  Panels target_panels_;    ///< target_, or input_ where both are the same span
  std::size_t rows_ = 0;    ///< of the current call
  std::size_t panels_ = 0;  ///< that hold them
  bool can_backward_ = false;
  bool packed_is_current_ = false;  ///< with parameters_
};

void DensePlan::MakeLayers() {
  auto in = static_cast<std::size_t>(spec_.inputs);
  width_max_ = in;
  for (const LayerSpec& from : spec_.layers) {
    Layer layer;
    layer.in = in;
    layer.out = static_cast<std::size_t>(from.width);
    layer.activation = from.activation;
    layer.weight = member_size_;
    layer.bias = layer.weight + layer.in * layer.out;
    member_size_ = layer.bias + layer.out;
    layer.dropout.drop_below = static_cast<std::uint32_t>(
        std::min(std::llround(from.dropout * 0x1p32), static_cast<long long>(UINT32_MAX)));
    layer.dropout.keep_scale = static_cast<float>(1.0 / (1.0 - from.dropout));
    layer.keeps_slope = layer.activation == Activation::kGelu || layer.dropout.drop_below > 0;
    in = layer.out;
    width_max_ = std::max(width_max_, in);
    layers_.push_back(layer);
  }
}

void DensePlan::ReserveKept(double panels) {
  const auto reserve = [&](std::size_t width) {
    return space_.Reserve(panels * static_cast<double>(PanelStride(width)));
  };
  noisy_.resize(Members());
  for (std::size_t e = 0; e < Members(); ++e) {
    if (NoiseSd(e) > 0) noisy_[e] = reserve(Inputs());
    for (const Layer& layer : layers_) {
      Kept kept;
      kept.y = reserve(layer.out);
      if (layer.keeps_slope) kept.slope = reserve(layer.out);
      kept_.push_back(kept);
    }
  }
}

double DensePlan::PanelsHeld() const {
  const double batch_panels = std::ceil(static_cast<double>(options_.batch_max) / kPanelRows);
  // Without training, only one block is held at a time.
  return options_.training ? batch_panels : std::min<double>(batch_panels, kBlockPanels);
}

void DensePlan::ReserveAll() {
  const double panels = PanelsHeld();
  const auto reserve = [&](std::size_t width) {
    return space_.Reserve(panels * static_cast<double>(PanelStride(width)));
  };
  const double count = static_cast<double>(Members()) * static_cast<double>(member_size_);
  parameters_ = space_.Reserve(count);
  input_ = reserve(Inputs());
  target_ = reserve(Outputs());
  for (std::size_t& handle : delta_) handle = reserve(width_max_);
  row_values_ = space_.Reserve(panels * kPanelRows);
  packed_ = space_.Reserve(count);
  if (options_.training) {
    gradients_ = space_.Reserve(count);
    scratch_ = space_.Reserve(panels * kPanelRows * kPanelRows);
    ReserveKept(panels);
  }
}

Status DensePlan::Allocate() {
  RINGWARD_TRY(space_.Allocate());
  keys_.resize(static_cast<std::size_t>(PanelsHeld()));
  return Ok();
}

std::vector<TensorView> DensePlan::tensors() const {
  std::vector<TensorView> views;
  for (std::size_t e = 0; e < Members(); ++e) {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const Layer& layer = layers_[l];
      const std::string name = fmt::format("members.{}.layers.{}.", e, l);
      const std::size_t start = e * member_size_;
      views.push_back({name + "weight", {layer.in, layer.out}, start + layer.weight});
      views.push_back({name + "bias", {layer.out}, start + layer.bias});
    }
  }
  return views;
}

void DensePlan::Initialize(std::uint64_t seed) {
  for (std::size_t e = 0; e < Members(); ++e) {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const Layer& layer = layers_[l];
      Rng rng(seed, RngPurpose::kInit, e, static_cast<std::uint32_t>(l));
      const double bound = std::sqrt(6.0 / static_cast<double>(layer.in));
      const auto from = e * member_size_ + layer.weight;
      for (float& value : parameters().subspan(from, layer.in * layer.out + layer.out)) {
        value = static_cast<float>((2.0 * rng.Uniform() - 1.0) * bound);
      }
    }
  }
}

void DensePlan::SetRows(std::size_t rows) {
  RINGWARD_CHECK(rows >= 1 && rows <= options_.batch_max);
  rows_ = rows;
  panels_ = PanelCount(rows);
  can_backward_ = false;
}

void DensePlan::LoadBatch(std::span<const float> x, std::span<const float> target) {
  SetRows(x.size() / Inputs());
  RINGWARD_CHECK(x.size() == rows_ * Inputs() && target.size() == rows_ * Outputs());
  kernels_.to_panels(x.data(), rows_, View(input_, Inputs()));
  target_panels_ = View(input_, Inputs());
  if (x.data() == target.data() && Inputs() == Outputs()) return;
  target_panels_ = View(target_, Outputs());
  kernels_.to_panels(target.data(), rows_, target_panels_);
}

void DensePlan::FillKeys(std::span<const RowKey> keys) {
  if (keys.empty()) return;
  for (std::size_t r = 0; r < panels_ * kPanelRows; ++r) {
    const RowKey key = r < rows_ ? keys[r] : RowKey{};
    PanelKeys& panel = keys_[r / kPanelRows];
    panel.row_low[r % kPanelRows] = static_cast<std::uint32_t>(key.row);
    panel.row_high[r % kPanelRows] = static_cast<std::uint32_t>(key.row >> 32);
    panel.epoch[r % kPanelRows] = key.epoch;
  }
}

RowStream DensePlan::Stream(std::uint64_t seed, RngPurpose purpose, std::size_t member,
                            std::size_t layer) const {
  const auto mixed =
      Philox({static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
             {static_cast<std::uint32_t>(member), static_cast<std::uint32_t>(layer), 0,
              static_cast<std::uint32_t>(purpose)});
  return {.key = {mixed[0], mixed[1]}, .rows = keys_.data()};
}

/// Brings the packed weights up to date with the parameters.
void DensePlan::PackWeights() {
  if (packed_is_current_) return;
  // In rising order: what one layer writes too much, the next overwrites.
  for (std::size_t e = 0; e < Members(); ++e) {
    for (const Layer& layer : layers_) {
      const std::size_t at = e * member_size_ + layer.weight;
      kernels_.pack_weights(space_.At(parameters_) + at, layer.in, layer.out,
                            space_.At(packed_) + at);
    }
  }
  packed_is_current_ = true;
}

/// What does not depend on the block. REQUIRES: PackWeights() came before.
ForwardArgs DensePlan::LayerArgs(std::size_t member, std::size_t layer) const {
  const std::size_t start = member * member_size_;
  return {.packed = space_.At(packed_) + start + layers_[layer].weight,
          .bias = space_.At(parameters_) + start + layers_[layer].bias,
          .activation = layers_[layer].activation};
}

void DensePlan::ForwardBlock(std::size_t member, std::uint64_t seed, std::size_t first,
                             std::size_t panels) {
  Panels x = From(MemberInput(member), first);
  if (NoiseSd(member) > 0) {
    RowStream stream = Stream(seed, RngPurpose::kNoise, member, 0);
    stream.rows += first;
    kernels_.add_noise(From(View(input_, Inputs()), first), stream, NoiseSd(member), panels, x);
  }
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Kept& kept = KeptOf(member, l);
    ForwardArgs args = LayerArgs(member, l);
    args.x = x;
    args.y = From(View(kept.y, layers_[l].out), first);
    args.panels = panels;
    if (layers_[l].keeps_slope) args.slope = space_.At(kept.slope) + first * args.y.stride;
    DropoutArgs dropout = layers_[l].dropout;
    if (dropout.drop_below > 0) {
      dropout.stream = Stream(seed, RngPurpose::kDropout, member, l);
      dropout.stream.rows += first;
      args.dropout = &dropout;
    }
    kernels_.forward(args);
    x = args.y;
  }
  kernels_.loss(x, From(target_panels_, first), panels,
                space_.At(row_values_) + first * kPanelRows);
}

void DensePlan::ForwardMember(std::size_t member, std::uint64_t seed) {
  ForBlocks(
      [&](std::size_t first, std::size_t panels) { ForwardBlock(member, seed, first, panels); });
}

/// row_values_[0 .. rows) are the losses of the rows from `first` on.
void DensePlan::CopyLosses(std::size_t member, std::size_t first, std::size_t rows,
                           std::span<float> losses) const {
  const float* per_row = space_.At(row_values_);
  for (std::size_t r = 0; r < rows; ++r) losses[(first + r) * Members() + member] = per_row[r];
}

void DensePlan::Forward(std::span<const float> x, std::span<const float> target,
                        std::span<const RowKey> keys, std::uint64_t seed, std::span<float> losses) {
  RINGWARD_CHECK(options_.training);
  const FlushDenormals flush;
  LoadBatch(x, target);
  RINGWARD_CHECK(losses.size() == rows_ * Members());
  RINGWARD_CHECK(keys.size() == rows_ || (keys.empty() && !NeedsKeys(spec_)));
  FillKeys(keys);
  PackWeights();
  for (std::size_t e = 0; e < Members(); ++e) {
    ForwardMember(e, seed);
    CopyLosses(e, 0, rows_, losses);
  }
  can_backward_ = true;
}

void DensePlan::BackwardMember(std::size_t member) {
  const std::size_t last = layers_.size() - 1;
  Panels delta = View(delta_[last % 2], Outputs());
  kernels_.output_delta({.y = View(KeptOf(member, last).y, Outputs()),
                         .target = target_panels_,
                         .delta = delta,
                         .panels = panels_,
                         .row_weight = space_.At(row_values_),
                         .slope = SlopeOf(member, last),
                         .activation = layers_[last].activation});
  for (std::size_t l = last + 1; l-- > 0;) {
    const Layer& layer = layers_[l];
    const Panels x = l == 0 ? MemberInput(member) : View(KeptOf(member, l - 1).y, layer.in);
    float* gradient = space_.At(gradients_) + member * member_size_;
    kernels_.gradient({.x = x,
                       .delta = delta,
                       .panels = panels_,
                       .scratch = space_.At(scratch_),
                       .weights = gradient + layer.weight,
                       .bias = gradient + layer.bias});
    if (l == 0) return;
    const Panels below = View(delta_[(l - 1) % 2], layer.in);
    kernels_.input_delta({.delta = delta,
                          .input_delta = below,
                          .panels = panels_,
                          .weights = space_.At(parameters_) + member * member_size_ + layer.weight,
                          .y = x.data,
                          .slope = SlopeOf(member, l - 1),
                          .activation = layers_[l - 1].activation});
    delta = below;
  }
}

void DensePlan::Backward(std::span<const float> weights) {
  RINGWARD_CHECK(can_backward_ && weights.size() == rows_ * Members());
  const FlushDenormals flush;
  can_backward_ = false;
  const float scale = 2.0F / static_cast<float>(Outputs());
  float* row_weight = space_.At(row_values_);
  for (std::size_t e = 0; e < Members(); ++e) {
    for (std::size_t r = 0; r < panels_ * kPanelRows; ++r) {
      row_weight[r] = r < rows_ ? weights[r * Members() + e] * scale : 0.0F;
    }
    BackwardMember(e);
  }
}

/// Brings a block's rows of `values`, row-major of the whole batch, to the front of `to`.
Panels DensePlan::LoadBlock(std::span<const float> values, std::size_t first, std::size_t panels,
                            const Panels& to) {
  kernels_.to_panels(values.data() + first * kPanelRows * to.width, BlockRows(first, panels), to);
  return to;
}

/// Outputs of the block that was loaded into input_, valid until the next call.
Panels DensePlan::InferBlock(std::size_t member, std::size_t panels) {
  Panels x = View(input_, Inputs());
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    ForwardArgs args = LayerArgs(member, l);
    args.x = x;
    args.y = View(delta_[l % 2], layers_[l].out);
    args.panels = panels;
    kernels_.forward(args);
    x = args.y;
  }
  return x;
}

void DensePlan::Evaluate(std::span<const float> x, std::span<const float> target,
                         std::span<float> losses) {
  SetRows(x.size() / Inputs());
  RINGWARD_CHECK(x.size() == rows_ * Inputs() && target.size() == rows_ * Outputs());
  RINGWARD_CHECK(losses.size() == rows_ * Members());
  const FlushDenormals flush;
  PackWeights();
  ForBlocks([&](std::size_t first, std::size_t panels) {
    LoadBlock(x, first, panels, View(input_, Inputs()));
    const Panels want = LoadBlock(target, first, panels, View(target_, Outputs()));
    for (std::size_t e = 0; e < Members(); ++e) {
      kernels_.loss(InferBlock(e, panels), want, panels, space_.At(row_values_));
      CopyLosses(e, first * kPanelRows, BlockRows(first, panels), losses);
    }
  });
}

void DensePlan::Infer(std::span<const float> x, std::size_t rows, std::span<float> out) {
  SetRows(rows);
  RINGWARD_CHECK(x.size() == rows * Inputs() && out.size() == Members() * rows * Outputs());
  const FlushDenormals flush;
  PackWeights();
  ForBlocks([&](std::size_t first, std::size_t panels) {
    LoadBlock(x, first, panels, View(input_, Inputs()));
    for (std::size_t e = 0; e < Members(); ++e) {
      float* to = out.data() + (e * rows + first * kPanelRows) * Outputs();
      kernels_.from_panels(InferBlock(e, panels), BlockRows(first, panels), to);
    }
  });
}

}  // namespace

namespace {

Status CheckOptions(const NetSpec& spec, const PlanOptions& options) {
  RINGWARD_TRY(CheckSpec(spec));
  if (options.batch_max < 1 || options.batch_max > 100'000'000) {
    return Error(Code::kInvalidInput,
                 fmt::format("batch size is {}, must be 1 .. 100000000", options.batch_max));
  }
  const auto isas = AvailableIsas();
  if (std::find(isas.begin(), isas.end(), options.isa) == isas.end()) {
    return Error(Code::kInvalidInput, fmt::format("this processor does not have instruction set {}",
                                                  IsaName(options.isa)));
  }
  return Ok();
}

}  // namespace

Status Plan::Check(const NetSpec& spec, const PlanOptions& options) {
  RINGWARD_TRY(CheckOptions(spec, options));
  return DensePlan(spec, options).Check();
}

Result<std::unique_ptr<Plan>> Plan::Make(const NetSpec& spec, const PlanOptions& options) {
  RINGWARD_TRY(CheckOptions(spec, options));
  auto plan = std::make_unique<DensePlan>(spec, options);
  RINGWARD_TRY(plan->Allocate());
  return std::unique_ptr<Plan>(std::move(plan));
}

std::vector<TensorView> TensorsOf(const NetSpec& spec) {
  RINGWARD_CHECK(CheckSpec(spec));
  return DensePlan(spec, {.training = false}).tensors();
}

}  // namespace ringward::learn
