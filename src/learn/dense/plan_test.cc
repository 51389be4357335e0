#include "learn/dense/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "learn/dense/dense_test_support.h"

namespace ringward::learn {
namespace {

constexpr std::uint64_t kPlanSeed = 4711;

NetSpec NoisyNet() {
  NetSpec spec = MakeNet({11, 18, 5, 11}, Activation::kGelu, 3);
  spec.input_noise = {0.2F, 0.0F, 0.4F};
  spec.layers[0].dropout = 0.3;
  spec.layers[2].dropout = 0.1;
  return spec;
}

class PlanOn : public testing::TestWithParam<Isa> {};

INSTANTIATE_TEST_SUITE_P(EveryIsa, PlanOn, testing::ValuesIn(AvailableIsas()),
                         [](const auto& test) { return std::string(IsaName(test.param)); });

TEST_P(PlanOn, RowsDoNotDependOnPositionOrBatchSize) {
  const NetSpec spec = NoisyNet();
  const Batch batch = MakeBatch(spec, 70, kPlanSeed);
  const auto plan = MakePlan(spec, {.batch_max = 70, .isa = GetParam()});
  plan->Initialize(kPlanSeed);
  std::vector<float> losses(70 * 3);
  plan->Forward(batch.x, batch.target, batch.keys, kPlanSeed, losses);
  for (const std::size_t rows : {1U, 3U, 16U, 23U}) {
    for (const std::size_t first : {0U, 5U, 31U, 47U}) {
      std::vector<float> some(rows * 3);
      plan->Forward(std::span(batch.x).subspan(first * 11, rows * 11),
                    std::span(batch.target).subspan(first * 11, rows * 11),
                    std::span(batch.keys).subspan(first, rows), kPlanSeed, some);
      for (std::size_t i = 0; i < some.size(); ++i) {
        ASSERT_EQ(some[i], losses[first * 3 + i]) << rows << " rows from " << first;
      }
    }
  }
}

/// Layers wide enough for unrolled loops, and one longer than a chunk of products.
NetSpec WideNet() { return MakeNet({45, 66, 270, 35, 45}, Activation::kRelu, 2); }

TEST_P(PlanOn, OutputsDoNotDependOnPositionOrBatchSize) {
  const NetSpec spec = WideNet();
  const Batch batch = MakeBatch(spec, 150, kPlanSeed);
  const auto plan = MakePlan(spec, {.batch_max = 150, .training = false, .isa = GetParam()});
  plan->Initialize(kPlanSeed);
  std::vector<float> all(2 * 150 * 45);
  std::vector<float> losses(150 * 2);
  plan->Infer(batch.x, 150, all);
  plan->Evaluate(batch.x, batch.target, losses);
  for (const std::size_t rows : {1U, 17U, 64U, 81U}) {
    for (const std::size_t first : {0U, 5U, 69U}) {
      const auto x = std::span(batch.x).subspan(first * 45, rows * 45);
      std::vector<float> out(2 * rows * 45);
      std::vector<float> some(rows * 2);
      plan->Infer(x, rows, out);
      plan->Evaluate(x, std::span(batch.target).subspan(first * 45, rows * 45), some);
      EXPECT_TRUE(std::equal(some.begin(), some.end(), losses.data() + first * 2));
      for (std::size_t e = 0; e < 2; ++e) {
        const float* want = all.data() + (e * 150 + first) * 45;
        const float* got = out.data() + e * rows * 45;
        EXPECT_TRUE(std::equal(got, got + rows * 45, want)) << rows << " rows from " << first;
      }
    }
  }
}

TEST_P(PlanOn, ChangedParametersAreReadByTheNextCall) {
  const NetSpec spec = WideNet();
  const Batch batch = MakeBatch(spec, 5, kPlanSeed);
  const auto plan = MakePlan(spec, {.batch_max = 5, .isa = GetParam()});
  const auto outputs = [&] {
    std::vector<float> out(2 * 5 * 45);
    plan->Infer(batch.x, 5, out);
    return out;
  };
  plan->Initialize(1);
  const auto one = outputs();
  EXPECT_EQ(outputs(), one);
  const std::vector<float> kept(plan->parameters().begin(), plan->parameters().end());
  plan->Initialize(2);
  EXPECT_NE(outputs(), one);
  std::copy(kept.begin(), kept.end(), plan->parameters().begin());
  EXPECT_EQ(outputs(), one);
  for (float& p : plan->parameters()) p = 0.0F;
  EXPECT_EQ(outputs(), std::vector<float>(one.size()));
}

TEST_P(PlanOn, GradientsAreBitEqualInAnotherPlan) {
  const NetSpec spec = NoisyNet();
  const Batch batch = MakeBatch(spec, 37, kPlanSeed);
  std::vector<std::vector<float>> gradients;
  for (const std::size_t batch_max : {37U, 200U}) {
    const auto plan = MakePlan(spec, {.batch_max = batch_max, .isa = GetParam()});
    plan->Initialize(kPlanSeed);
    std::vector<float> losses(37 * 3);
    if (batch_max == 200) {  // leftovers of a larger batch must not matter
      const Batch large = MakeBatch(spec, 200, 99);
      std::vector<float> ignored(200 * 3);
      plan->Forward(large.x, large.target, large.keys, 1, ignored);
      plan->Backward(large.weights);
    }
    plan->Forward(batch.x, batch.target, batch.keys, kPlanSeed, losses);
    plan->Backward(batch.weights);
    gradients.emplace_back(plan->gradients().begin(), plan->gradients().end());
  }
  EXPECT_EQ(gradients[0], gradients[1]);
}

TEST_P(PlanOn, AWeightOfZeroLeavesTheRowOut) {
  const NetSpec spec = NoisyNet();
  Batch batch = MakeBatch(spec, 20, kPlanSeed);
  std::fill(batch.weights.begin(), batch.weights.end(), 0.0F);
  for (std::size_t e = 0; e < 3; ++e) batch.weights[7 * 3 + e] = 1.0F;
  const auto plan = MakePlan(spec, {.batch_max = 20, .isa = GetParam()});
  plan->Initialize(kPlanSeed);
  std::vector<float> losses(20 * 3);
  plan->Forward(batch.x, batch.target, batch.keys, kPlanSeed, losses);
  plan->Backward(batch.weights);
  const std::vector<float> all(plan->gradients().begin(), plan->gradients().end());
  plan->Forward(std::span(batch.x).subspan(77, 11), std::span(batch.target).subspan(77, 11),
                std::span(batch.keys).subspan(7, 1), kPlanSeed, std::span(losses).first(3));
  plan->Backward(std::vector<float>(3, 1.0F));
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_FLOAT_EQ(all[i], plan->gradients()[i]) << i;
}

TEST_P(PlanOn, MembersAreIndependent) {
  const NetSpec spec = MakeNet({9, 14, 9}, Activation::kTanh, 4);
  const Batch batch = MakeBatch(spec, 25, kPlanSeed);
  const auto plan = MakePlan(spec, {.batch_max = 25, .isa = GetParam()});
  plan->Initialize(kPlanSeed);
  std::vector<float> losses(25 * 4);
  plan->Forward(batch.x, batch.target, {}, kPlanSeed, losses);
  plan->Backward(batch.weights);
  const NetSpec single = MakeNet({9, 14, 9}, Activation::kTanh, 1);
  const auto alone = MakePlan(single, {.batch_max = 25, .isa = GetParam()});
  const std::size_t size = alone->parameters().size();
  for (std::size_t e = 0; e < 4; ++e) {
    std::copy_n(plan->parameters().begin() + static_cast<std::ptrdiff_t>(e * size), size,
                alone->parameters().begin());
    std::vector<float> own_losses(25);
    std::vector<float> weights(25);
    for (std::size_t r = 0; r < 25; ++r) weights[r] = batch.weights[r * 4 + e];
    alone->Forward(batch.x, batch.target, {}, kPlanSeed, own_losses);
    alone->Backward(weights);
    for (std::size_t r = 0; r < 25; ++r) EXPECT_EQ(own_losses[r], losses[r * 4 + e]);
    for (std::size_t i = 0; i < size; ++i) {
      ASSERT_EQ(alone->gradients()[i], plan->gradients()[e * size + i]);
    }
  }
}

TEST_P(PlanOn, SharingInputAndTargetChangesNothing) {
  NetSpec spec = NoisyNet();
  const Batch batch = MakeBatch(spec, 30, kPlanSeed);
  const auto plan = MakePlan(spec, {.batch_max = 30, .isa = GetParam()});
  plan->Initialize(kPlanSeed);
  std::vector<float> shared(90);
  std::vector<float> copied(90);
  const std::vector<float> copy = batch.x;
  plan->Forward(batch.x, batch.x, batch.keys, kPlanSeed, shared);
  plan->Forward(batch.x, copy, batch.keys, kPlanSeed, copied);
  EXPECT_EQ(shared, copied);
}

TEST_P(PlanOn, NotANumberStaysVisible) {
  for (const Activation activation :
       {Activation::kIdentity, Activation::kRelu, Activation::kLeakyRelu, Activation::kTanh,
        Activation::kSigmoid, Activation::kGelu}) {
    const NetSpec spec = MakeNet({3, 4, 3}, activation);
    Batch batch = MakeBatch(spec, 2, kPlanSeed);
    batch.x[1] = std::numeric_limits<float>::quiet_NaN();
    const auto plan = MakePlan(spec, {.batch_max = 2, .isa = GetParam()});
    plan->Initialize(kPlanSeed);
    std::vector<float> losses(2);
    plan->Forward(batch.x, batch.target, {}, kPlanSeed, losses);
    EXPECT_TRUE(std::isnan(losses[0])) << static_cast<int>(activation);
    EXPECT_FALSE(std::isnan(losses[1])) << static_cast<int>(activation);
  }
}

TEST_P(PlanOn, LearnsToReconstruct) {
  const NetSpec spec = MakeNet({6, 12, 2, 12, 6}, Activation::kTanh);
  const auto plan = MakePlan(spec, {.batch_max = 64, .isa = GetParam()});
  plan->Initialize(kPlanSeed);
  Batch batch = MakeBatch(spec, 64, kPlanSeed);
  for (std::size_t r = 0; r < 64; ++r) {  // rows on a plane of two dimensions
    for (std::size_t c = 2; c < 6; ++c) {
      batch.x[r * 6 + c] =
          0.5F * batch.x[r * 6] - 0.25F * static_cast<float>(c) * batch.x[r * 6 + 1];
    }
  }
  std::vector<float> losses(64);
  const auto mean = [&] { return std::accumulate(losses.begin(), losses.end(), 0.0F) / 64; };
  plan->Evaluate(batch.x, batch.x, losses);
  const float before = mean();
  for (int step = 0; step < 400; ++step) {
    plan->Forward(batch.x, batch.x, {}, kPlanSeed, losses);
    plan->Backward(std::vector<float>(64, 1.0F / 64));
    for (std::size_t i = 0; i < plan->parameters().size(); ++i) {
      plan->parameters()[i] -= 0.2F * plan->gradients()[i];
    }
  }
  plan->Evaluate(batch.x, batch.x, losses);
  EXPECT_LT(mean(), 0.1F * before);
}

TEST(Plan, TensorsCoverTheParametersWithoutGaps) {
  const NetSpec spec = MakeNet({4, 3, 5}, Activation::kRelu, 2);
  const auto plan = MakePlan(spec, {.batch_max = 1});
  const auto tensors = plan->tensors();
  ASSERT_EQ(tensors.size(), 8U);
  EXPECT_EQ(tensors[0].name, "members.0.layers.0.weight");
  EXPECT_EQ(tensors[0].shape, (std::vector<std::size_t>{4, 3}));
  EXPECT_EQ(tensors[7].name, "members.1.layers.1.bias");
  EXPECT_EQ(tensors[7].shape, (std::vector<std::size_t>{5}));
  std::size_t offset = 0;
  for (const TensorView& t : tensors) {
    EXPECT_EQ(t.offset, offset) << t.name;
    offset += std::accumulate(t.shape.begin(), t.shape.end(), std::size_t{1}, std::multiplies<>());
  }
  EXPECT_EQ(offset, plan->parameters().size());
}

TEST(Plan, InitializeIsAFunctionOfTheSeed) {
  const NetSpec spec = MakeNet({4, 3, 5}, Activation::kRelu, 2);
  const auto values = [&](std::uint64_t seed) {
    const auto plan = MakePlan(spec, {.batch_max = 1});
    plan->Initialize(seed);
    return std::vector<float>(plan->parameters().begin(), plan->parameters().end());
  };
  EXPECT_EQ(values(1), values(1));
  EXPECT_NE(values(1), values(2));
  const auto one = values(1);
  EXPECT_TRUE(std::all_of(one.begin(), one.end(), [](float v) { return std::abs(v) <= 1.5; }));
  EXPECT_FALSE(std::equal(one.begin(), one.begin() + 35, one.begin() + 35));
}

TEST(Plan, WithoutTrainingItOnlyInfers) {
  const NetSpec spec = NoisyNet();
  const Batch batch = MakeBatch(spec, 20, kPlanSeed);
  const auto trains = MakePlan(spec, {.batch_max = 20});
  const auto infers = MakePlan(spec, {.batch_max = 20, .training = false});
  trains->Initialize(kPlanSeed);
  infers->Initialize(kPlanSeed);
  EXPECT_TRUE(infers->gradients().empty());
  std::vector<float> a(3 * 20 * 11);
  std::vector<float> b(a.size());
  trains->Infer(batch.x, 20, a);
  infers->Infer(batch.x, 20, b);
  EXPECT_EQ(a, b);
}

TEST(Plan, RefusesSpecsOutOfRange) {
  struct Bad {
    std::string word;
    NetSpec spec;
    std::size_t batch = 1;
    Code code = Code::kInvalidInput;
  };
  const NetSpec good = MakeNet({4, 3, 4}, Activation::kRelu, 2);
  const auto with = [&](auto&& change) {
    NetSpec spec = good;
    change(spec);
    return spec;
  };
  const Bad cases[] = {
      {"inputs", with([](NetSpec& s) { s.inputs = 0; })},
      {"inputs", with([](NetSpec& s) { s.inputs = 1'000'001; })},
      {"layers", with([](NetSpec& s) { s.layers.clear(); })},
      {"width of layer 2", with([](NetSpec& s) { s.layers[1].width = -1; })},
      {"dropout of layer 1", with([](NetSpec& s) { s.layers[0].dropout = 1; })},
      {"dropout of layer 1", with([](NetSpec& s) { s.layers[0].dropout = std::nan(""); })},
      {"members", with([](NetSpec& s) { s.members = 0; })},
      {"input_noise", with([](NetSpec& s) { s.input_noise = {0.1F}; })},
      {"noise", with([](NetSpec& s) {
         s.input_noise = {0.1F, -1.0F};
       })},
      {"batch", good, 0},
      {"memory", MakeNet({1'000'000, 1'000'000, 1'000'000}, Activation::kRelu, 1000), 1,
       Code::kResource},
  };
  for (const Bad& bad : cases) {
    const auto plan = Plan::Make(bad.spec, bad.batch);
    ASSERT_FALSE(plan) << bad.word;
    EXPECT_EQ(plan.error().code(), bad.code);
    EXPECT_NE(plan.error().what().find(bad.word), std::string::npos) << plan.error().what();
  }
}

}  // namespace
}  // namespace ringward::learn
