// Losses and gradients of the dense engine against libtorch's autograd.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "learn/dense/dense_test_support.h"

namespace ringward::learn {
namespace {

constexpr std::uint64_t kSeed = 271828;

std::vector<NetCase> Cases() {
  using A = Activation;
  return {{"autoencoder", MakeNet({20, 10, 3, 10, 20}, A::kRelu), 32},
          {"wide", MakeNet({100, 128, 64, 128, 100}, A::kRelu), 256},
          {"identity", MakeNet({9, 17, 5}, A::kIdentity), 20},
          {"leaky_relu", MakeNet({9, 17, 5}, A::kLeakyRelu), 20},
          {"tanh", MakeNet({9, 17, 5}, A::kTanh), 20},
          {"sigmoid", MakeNet({9, 17, 5}, A::kSigmoid), 20},
          {"gelu", MakeNet({9, 17, 5}, A::kGelu), 20},
          {"members", MakeNet({12, 31, 12}, A::kTanh, 3), 50}};
}

at::Tensor Activate(Activation activation, const at::Tensor& z) {
  switch (activation) {
    case Activation::kRelu:
      return at::relu(z);
    case Activation::kLeakyRelu:
      return at::leaky_relu(z, kLeakySlope);
    case Activation::kTanh:
      return at::tanh(z);
    case Activation::kSigmoid:
      return at::sigmoid(z);
    case Activation::kGelu:
      return at::gelu(z);
    case Activation::kIdentity:
      break;
  }
  return z;
}

at::Tensor Copy(std::span<const float> values, std::vector<std::int64_t> shape) {
  // from_blob wants a mutable pointer; clone() reads it only.
  return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat).clone();
}

/// One member: its weighted losses, and the gradients of their sum, flat as in Plan.
struct TorchRun {
  std::vector<float> losses, gradients;
};

TorchRun RunTorch(const NetCase& c, std::span<const float> parameters, const Batch& batch,
                  std::size_t member) {
  const auto members = static_cast<std::size_t>(c.spec.members);
  const auto rows = static_cast<std::int64_t>(c.rows);
  std::vector<at::Tensor> leaves;
  std::size_t at = parameters.size() / members * member;
  at::Tensor y = Copy(batch.x, {rows, c.spec.inputs});
  std::int64_t in = c.spec.inputs;
  for (const LayerSpec& layer : c.spec.layers) {
    const auto size = static_cast<std::size_t>(in) * static_cast<std::size_t>(layer.width);
    leaves.push_back(Copy(parameters.subspan(at, size), {in, layer.width}).requires_grad_());
    leaves.push_back(Copy(parameters.subspan(at + size), {layer.width}).requires_grad_());
    y = Activate(layer.activation, at::matmul(y, leaves[leaves.size() - 2]) + leaves.back());
    at += size + static_cast<std::size_t>(layer.width);
    in = layer.width;
  }
  const at::Tensor loss = (y - Copy(batch.target, {rows, in})).square().mean(1);
  std::vector<float> weights;
  for (std::size_t r = 0; r < c.rows; ++r) weights.push_back(batch.weights[r * members + member]);
  (loss * Copy(weights, {rows})).sum().backward();
  TorchRun run;
  const at::Tensor flat_loss = loss.detach().contiguous();
  run.losses.assign(flat_loss.data_ptr<float>(), flat_loss.data_ptr<float>() + rows);
  for (const at::Tensor& leaf : leaves) {
    const at::Tensor g = leaf.grad().contiguous();
    run.gradients.insert(run.gradients.end(), g.data_ptr<float>(), g.data_ptr<float>() + g.numel());
  }
  return run;
}

class DenseAndTorch : public testing::TestWithParam<std::tuple<NetCase, Isa>> {};

TEST_P(DenseAndTorch, Agree) {
  const auto& [c, isa] = GetParam();
  const auto plan = MakePlan(c.spec, {.batch_max = c.rows, .isa = isa});
  plan->Initialize(kSeed);
  const Batch batch = MakeBatch(c.spec, c.rows, kSeed);
  std::vector<float> losses(batch.weights.size());
  plan->Forward(batch.x, batch.target, {}, kSeed, losses);
  plan->Backward(batch.weights);
  const auto members = static_cast<std::size_t>(c.spec.members);
  const std::size_t size = plan->parameters().size() / members;
  for (std::size_t e = 0; e < members; ++e) {
    const TorchRun want = RunTorch(c, plan->parameters(), batch, e);
    for (std::size_t r = 0; r < c.rows; ++r) {
      EXPECT_NEAR(losses[r * members + e], want.losses[r], 2e-5F * (1 + want.losses[r]));
    }
    ASSERT_EQ(want.gradients.size(), size);
    float square = 0;
    for (const float g : want.gradients) square += g * g;
    const float scale = std::sqrt(square / static_cast<float>(size));
    ASSERT_GT(scale, 0);
    for (std::size_t i = 0; i < size; ++i) {
      const float g = want.gradients[i];
      ASSERT_NEAR(plan->gradients()[e * size + i], g, 5e-5F * (scale + std::abs(g))) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DenseAndTorch,
                         testing::Combine(testing::ValuesIn(Cases()),
                                          testing::ValuesIn(AvailableIsas())),
                         NameOfCase);

}  // namespace
}  // namespace ringward::learn
