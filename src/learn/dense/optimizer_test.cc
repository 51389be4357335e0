#include "learn/dense/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace ringward::learn {
namespace {

struct OptimizerCase {
  std::string name;
  OptimizerOptions options;
};

void PrintTo(const OptimizerCase& c, std::ostream* out) { *out << c.name; }

std::vector<OptimizerCase> OptimizerCases() {
  return {
      {"sgd", {.kind = "sgd", .learning_rate = 0.05}},
      {"momentum", {.kind = "sgd", .learning_rate = 0.05, .momentum = 0.9}},
      {"sgd_decay", {.kind = "sgd", .learning_rate = 0.05, .momentum = 0.5, .weight_decay = 0.1}},
      {"adam", {.kind = "adam", .learning_rate = 0.01}},
      {"adam_decay", {.kind = "adam", .learning_rate = 0.01, .beta1 = 0.8, .weight_decay = 0.1}},
      {"adamw", {.kind = "adamw", .learning_rate = 0.01, .beta2 = 0.99, .weight_decay = 0.1}}};
}

/// One parameter in double precision, by the formulas of the papers.
struct Reference {
  double w, m = 0, v = 0;
  void Step(const OptimizerOptions& o, double g, int t) {
    if (o.kind != "adamw") g += o.weight_decay * w;
    if (o.kind == "sgd") {
      m = o.momentum * m + g;
      w -= o.learning_rate * m;
      return;
    }
    if (o.kind == "adamw") w *= 1 - o.learning_rate * o.weight_decay;
    m = o.beta1 * m + (1 - o.beta1) * g;
    v = o.beta2 * v + (1 - o.beta2) * g * g;
    const double mean = m / (1 - std::pow(o.beta1, t));
    const double square = v / (1 - std::pow(o.beta2, t));
    w -= o.learning_rate * mean / (std::sqrt(square) + o.epsilon);
  }
};

std::vector<float> Gradients(std::size_t count, int step) {
  Rng rng(7, RngPurpose::kTest, static_cast<std::uint64_t>(step));
  std::vector<float> g(count);
  for (float& value : g) value = static_cast<float>(rng.Normal());
  return g;
}

class OptimizerSteps : public testing::TestWithParam<std::tuple<OptimizerCase, Isa>> {};

TEST_P(OptimizerSteps, FollowTheFormulas) {
  const auto& [c, isa] = GetParam();
  for (const std::size_t count : {1U, 7U, 16U, 37U}) {
    std::vector<float> w(count, 0.5F);
    std::vector<Reference> want(count, {.w = 0.5});
    auto made = MakeOptimizer(c.options, count, isa);
    ASSERT_TRUE(made);
    for (int t = 1; t <= 50; ++t) {
      const auto g = Gradients(count, t);
      (*made)->Step(w, g);
      for (std::size_t i = 0; i < count; ++i) want[i].Step(c.options, static_cast<double>(g[i]), t);
    }
    EXPECT_EQ((*made)->steps(), 50);
    for (std::size_t i = 0; i < count; ++i) EXPECT_NEAR(w[i], want[i].w, 2e-5) << i;
  }
}

TEST_P(OptimizerSteps, ContinueBitForBitFromSavedState) {
  const auto& [c, isa] = GetParam();
  constexpr std::size_t kCount = 21;
  std::vector<float> w(kCount, 0.5F);
  auto made = MakeOptimizer(c.options, kCount, isa);
  ASSERT_TRUE(made);
  for (int t = 1; t <= 10; ++t) (*made)->Step(w, Gradients(kCount, t));
  std::vector<float> resumed_w = w;
  auto resumed = MakeOptimizer(c.options, kCount, isa);
  ASSERT_TRUE(resumed);
  const auto from = (*made)->state();
  const auto to = (*resumed)->state();
  ASSERT_EQ(from.size(), to.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::copy(from[i].begin(), from[i].end(), to[i].begin());
  }
  (*resumed)->SetSteps((*made)->steps());
  for (int t = 11; t <= 20; ++t) {
    (*made)->Step(w, Gradients(kCount, t));
    (*resumed)->Step(resumed_w, Gradients(kCount, t));
  }
  EXPECT_EQ(w, resumed_w);
}

TEST_P(OptimizerSteps, TreatEveryElementAlikeWhereverItLies) {
  const auto& [c, isa] = GetParam();
  auto made = MakeOptimizer(c.options, 45, isa);
  ASSERT_TRUE(made);
  std::vector<float> w(45, 0.25F);
  for (int t = 1; t <= 5; ++t)
    (*made)->Step(w, std::vector<float>(45, 0.1F * static_cast<float>(t)));
  for (const float value : w) EXPECT_EQ(value, w[0]);
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerSteps,
                         testing::Combine(testing::ValuesIn(OptimizerCases()),
                                          testing::ValuesIn(AvailableIsas())),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + "_" +
                                  std::string(IsaName(std::get<1>(test.param)));
                         });

TEST(Optimizer, HonoursANewLearningRate) {
  auto made = MakeOptimizer({.kind = "sgd", .learning_rate = 1}, 1);
  ASSERT_TRUE(made);
  std::vector<float> w = {1};
  (*made)->SetLearningRate(0.25);
  (*made)->Step(w, std::vector<float>{2});
  EXPECT_FLOAT_EQ(w[0], 0.5F);
}

TEST(Optimizer, NamesTheOptionThatIsOutOfRange) {
  const std::pair<OptimizerOptions, std::string> cases[] = {
      {{.kind = "adamx"}, "kind"},
      {{.learning_rate = 0}, "learning_rate"},
      {{.learning_rate = std::nan("")}, "learning_rate"},
      {{.momentum = 1}, "momentum"},
      {{.beta1 = -0.1}, "beta1"},
      {{.beta2 = 1}, "beta2"},
      {{.epsilon = 0}, "epsilon"},
      {{.weight_decay = -1}, "weight_decay"}};
  for (const auto& [options, word] : cases) {
    const auto made = MakeOptimizer(options, 3);
    ASSERT_FALSE(made) << word;
    EXPECT_EQ(made.error().code(), Code::kInvalidInput);
    EXPECT_NE(made.error().what().find(word), std::string::npos) << made.error().what();
  }
}

}  // namespace
}  // namespace ringward::learn
