#include <gtest/gtest.h>

#include <cmath>

#include "learn/dense/dense_test_support.h"
#include "learn/dense/reference_net.h"

namespace ringward::learn {
namespace {

constexpr std::uint64_t kGradientSeed = 20260101;

std::vector<NetCase> GradientCases() {
  using A = Activation;
  std::vector<NetCase> cases;
  const std::pair<const char*, A> activations[] = {
      {"identity", A::kIdentity}, {"relu", A::kRelu},       {"leaky_relu", A::kLeakyRelu},
      {"tanh", A::kTanh},         {"sigmoid", A::kSigmoid}, {"gelu", A::kGelu}};
  for (const auto& [name, activation] : activations) {
    cases.push_back({name, MakeNet({7, 9, 5, 7}, activation), 21});
    NetSpec last = MakeNet({5, 6, 4}, A::kTanh);
    last.layers.back().activation = activation;
    cases.push_back({std::string("output_") + name, last, 16});
    NetSpec dropped = MakeNet({6, 19, 17, 4}, activation, 2);
    dropped.layers[0].dropout = 0.25;
    dropped.layers[1].dropout = 0.5;
    cases.push_back({std::string("dropout_") + name, dropped, 19});
  }
  cases.push_back({"one_layer", MakeNet({3, 2}, A::kIdentity), 5});
  cases.push_back({"one_unit", MakeNet({1, 1, 1}, A::kTanh), 1});
  cases.push_back({"autoencoder", MakeNet({20, 10, 3, 10, 20}, A::kRelu), 32});
  cases.push_back({"wide", MakeNet({33, 70, 18, 129}, A::kTanh), 50});
  cases.push_back({"beyond_a_chunk", MakeNet({300, 530, 8, 300}, A::kTanh), 18});
  cases.push_back({"members", MakeNet({8, 13, 8}, A::kGelu, 5), 33});
  NetSpec noisy = MakeNet({10, 12, 10}, A::kTanh, 3);
  noisy.input_noise = {0.0F, 0.15F, 0.5F};
  cases.push_back({"noise", noisy, 40});
  noisy.layers[0].dropout = 0.3;
  noisy.layers[1].dropout = 0.1;
  cases.push_back({"noise_and_dropout", noisy, 17});
  return cases;
}

/// d(sum of weighted losses) / d(parameter), by central differences in double precision.
double Difference(const NetCase& c, const Batch& batch, std::vector<double> parameters,
                  std::size_t index) {
  constexpr double kStep = 1e-6;
  const auto members = static_cast<std::size_t>(c.spec.members);
  const std::size_t member = index / (parameters.size() / members);
  const auto in = static_cast<std::size_t>(c.spec.inputs);
  const std::size_t out = batch.target.size() / batch.rows;
  const double middle = parameters[index];
  double sum = 0;
  for (std::size_t r = 0; r < batch.rows; ++r) {
    const auto weight = static_cast<double>(batch.weights[r * members + member]);
    if (weight == 0) continue;
    const auto loss = [&](double value) {
      parameters[index] = value;
      return ReferenceLoss(c.spec, parameters, member, std::span(batch.x).subspan(r * in, in),
                           std::span(batch.target).subspan(r * out, out), &batch.keys[r],
                           kGradientSeed);
    };
    sum += weight * (loss(middle + kStep) - loss(middle - kStep)) / (2 * kStep);
  }
  return sum;
}

class Gradient : public testing::TestWithParam<std::tuple<NetCase, Isa>> {};

TEST_P(Gradient, AgreesWithFiniteDifferences) {
  const auto& [c, isa] = GetParam();
  const auto plan = MakePlan(c.spec, {.batch_max = c.rows, .isa = isa});
  plan->Initialize(kGradientSeed);
  const Batch batch = MakeBatch(c.spec, c.rows, kGradientSeed);
  std::vector<float> losses(batch.weights.size());
  plan->Forward(batch.x, batch.target, batch.keys, kGradientSeed, losses);
  plan->Backward(batch.weights);

  const std::vector<double> parameters(plan->parameters().begin(), plan->parameters().end());
  double scale = 0;  // differences are judged against the root mean square of the gradient
  for (const float g : plan->gradients()) scale += static_cast<double>(g) * static_cast<double>(g);
  scale = std::sqrt(scale / static_cast<double>(parameters.size()));
  ASSERT_GT(scale, 0);
  // Large nets: as many parameters as a second allows, spread over all tensors.
  const std::size_t stride = 1 + parameters.size() * parameters.size() * c.rows / 40'000'000;
  for (std::size_t i = 0; i < parameters.size(); i += stride) {
    const auto got = static_cast<double>(plan->gradients()[i]);
    ASSERT_NEAR(got, Difference(c, batch, parameters, i), 2e-5 * (scale + std::abs(got)))
        << "parameter " << i << " of " << parameters.size();
  }
}

TEST_P(Gradient, LossesAgreeWithTheReference) {
  const auto& [c, isa] = GetParam();
  const auto plan = MakePlan(c.spec, {.batch_max = c.rows, .isa = isa});
  plan->Initialize(kGradientSeed);
  const Batch batch = MakeBatch(c.spec, c.rows, kGradientSeed);
  const std::vector<double> parameters(plan->parameters().begin(), plan->parameters().end());
  const auto members = static_cast<std::size_t>(c.spec.members);
  const auto in = static_cast<std::size_t>(c.spec.inputs);
  const std::size_t out = batch.target.size() / c.rows;
  std::vector<float> training(c.rows * members);
  std::vector<float> evaluated(c.rows * members);
  std::vector<float> outputs(members * c.rows * out);
  plan->Forward(batch.x, batch.target, batch.keys, kGradientSeed, training);
  plan->Evaluate(batch.x, batch.target, evaluated);
  plan->Infer(batch.x, c.rows, outputs);
  for (std::size_t r = 0; r < c.rows; ++r) {
    const auto x = std::span(batch.x).subspan(r * in, in);
    const auto t = std::span(batch.target).subspan(r * out, out);
    for (std::size_t e = 0; e < members; ++e) {
      const double want = ReferenceLoss(c.spec, parameters, e, x, t, &batch.keys[r], kGradientSeed);
      EXPECT_NEAR(training[r * members + e], want, 1e-5 * (1 + want));
      const double clean = ReferenceLoss(c.spec, parameters, e, x, t, nullptr, kGradientSeed);
      EXPECT_NEAR(evaluated[r * members + e], clean, 1e-5 * (1 + clean));
      const auto y = ReferenceOutput(c.spec, parameters, e, x, nullptr, kGradientSeed);
      for (std::size_t o = 0; o < out; ++o) {
        ASSERT_NEAR(outputs[(e * c.rows + r) * out + o], y[o], 1e-5);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Gradient,
                         testing::Combine(testing::ValuesIn(GradientCases()),
                                          testing::ValuesIn(AvailableIsas())),
                         NameOfCase);

}  // namespace
}  // namespace ringward::learn
