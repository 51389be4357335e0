#include "learn/dense/optimizer.h"

#include <fmt/format.h>

#include <cmath>

#include "learn/dense/flush_denormals.h"
#include "learn/dense/kernels.h"

namespace ringward::learn {
namespace {

class Sgd final : public Optimizer {
 public:
  Sgd(const OptimizerOptions& options, std::size_t parameters, Isa isa)
      : options_(options), kernels_(KernelsFor(isa)), velocity_(parameters) {}

  void Step(std::span<float> parameters, std::span<const float> gradients) override {
    RINGWARD_CHECK(parameters.size() == velocity_.size() && gradients.size() == velocity_.size());
    const FlushDenormals flush;
    ++steps_;
    kernels_.sgd({.parameters = parameters.data(),
                  .gradients = gradients.data(),
                  .velocity = velocity_.data(),
                  .count = velocity_.size(),
                  .momentum = static_cast<float>(options_.momentum),
                  .step = static_cast<float>(options_.learning_rate),
                  .l2 = static_cast<float>(options_.weight_decay)});
  }
  void SetLearningRate(double rate) override { options_.learning_rate = rate; }
  std::vector<std::span<float>> state() override { return {velocity_}; }
  std::int64_t steps() const override { return steps_; }
  void SetSteps(std::int64_t steps) override { steps_ = steps; }

 private:
  OptimizerOptions options_;
  const Kernels& kernels_;
  std::vector<float> velocity_;
  std::int64_t steps_ = 0;
};

/// Adam (Kingma and Ba, 2015) and AdamW (Loshchilov and Hutter, 2019).
class Adam final : public Optimizer {
 public:
  Adam(const OptimizerOptions& options, std::size_t parameters, Isa isa)
      : options_(options),
        kernels_(KernelsFor(isa)),
        decoupled_(options.kind == "adamw"),
        first_(parameters),
        second_(parameters) {}

  void Step(std::span<float> parameters, std::span<const float> gradients) override {
    RINGWARD_CHECK(parameters.size() == first_.size() && gradients.size() == first_.size());
    const FlushDenormals flush;
    ++steps_;
    const double rate = options_.learning_rate;
    const double decay = options_.weight_decay;
    kernels_.adam({.parameters = parameters.data(),
                   .gradients = gradients.data(),
                   .first = first_.data(),
                   .second = second_.data(),
                   .count = first_.size(),
                   .beta1 = static_cast<float>(options_.beta1),
                   .beta2 = static_cast<float>(options_.beta2),
                   .epsilon = static_cast<float>(options_.epsilon),
                   .step = static_cast<float>(rate / Correction(options_.beta1)),
                   .second_scale = static_cast<float>(1 / std::sqrt(Correction(options_.beta2))),
                   .l2 = decoupled_ ? 0.0F : static_cast<float>(decay),
                   .shrink = decoupled_ ? static_cast<float>(1 - rate * decay) : 1.0F});
  }
  void SetLearningRate(double rate) override { options_.learning_rate = rate; }
  std::vector<std::span<float>> state() override { return {first_, second_}; }
  std::int64_t steps() const override { return steps_; }
  void SetSteps(std::int64_t steps) override { steps_ = steps; }

 private:
  /// 1 - beta^steps: what the moving means, which start at zero, have seen of their weight.
  double Correction(double beta) const { return 1.0 - std::pow(beta, static_cast<double>(steps_)); }

  OptimizerOptions options_;
  const Kernels& kernels_;
  bool decoupled_;
  std::vector<float> first_, second_;
  std::int64_t steps_ = 0;
};

Status CheckOptions(const OptimizerOptions& o) {
  const auto bad = [](std::string_view name, double value, std::string_view range) {
    return Error(Code::kInvalidInput,
                 fmt::format("optimizer: {} is {}, must be {}", name, value, range));
  };
  if (o.kind != "sgd" && o.kind != "adam" && o.kind != "adamw") {
    return Error(Code::kInvalidInput,
                 fmt::format("optimizer: kind is '{}', must be sgd, adam or adamw", o.kind));
  }
  const auto fraction = [](double x) { return x >= 0 && x < 1; };
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!finite(o.learning_rate) || o.learning_rate <= 0) {
    return bad("learning_rate", o.learning_rate, "> 0");
  }
  if (!fraction(o.momentum)) return bad("momentum", o.momentum, "in [0, 1)");
  if (!fraction(o.beta1)) return bad("beta1", o.beta1, "in [0, 1)");
  if (!fraction(o.beta2)) return bad("beta2", o.beta2, "in [0, 1)");
  if (!finite(o.epsilon) || o.epsilon <= 0) return bad("epsilon", o.epsilon, "> 0");
  if (!finite(o.weight_decay) || o.weight_decay < 0) {
    return bad("weight_decay", o.weight_decay, ">= 0");
  }
  return Ok();
}

}  // namespace

Result<std::unique_ptr<Optimizer>> MakeOptimizer(const OptimizerOptions& options,
                                                 std::size_t parameters, Isa isa) {
  RINGWARD_TRY(CheckOptions(options));
  if (options.kind == "sgd") {
    return std::unique_ptr<Optimizer>(std::make_unique<Sgd>(options, parameters, isa));
  }
  return std::unique_ptr<Optimizer>(std::make_unique<Adam>(options, parameters, isa));
}

}  // namespace ringward::learn
