#include "learn/train/loop.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "comm/local/local_communicator.h"

namespace ringward::learn {
namespace {

constexpr std::uint64_t kLoopSeed = 11;

/// Correlated rows, so that an autoencoder has something to learn.
WindowedRows LoopRows(std::size_t rows, std::size_t cols) {
  Matrix data(rows, cols);
  Rng rng(kLoopSeed);
  for (std::size_t i = 0; i < rows; ++i) {
    const double a = rng.Normal();
    const double b = rng.Normal();
    for (std::size_t j = 0; j < cols; ++j) {
      const double t = static_cast<double>(j);
      data.Row(i)[j] = static_cast<float>(a * std::cos(t) + b * std::sin(t) + 0.1 * rng.Normal());
    }
  }
  return WindowedRows(std::move(data), 1, {});
}

NetSpec MakeSpec(int inputs, int members) {
  return {.inputs = inputs,
          .layers = {{.width = 16, .activation = Activation::kRelu, .dropout = 0.1},
                     {.width = inputs, .activation = Activation::kIdentity}},
          .members = members,
          .input_noise = std::vector<float>(static_cast<std::size_t>(members), 0.1F)};
}

struct RunSettings {
  int world = 1;
  LoopOptions loop;
  bool folds = false;
  std::size_t validation = 0;
};

/// Every look at it takes `tick`: a slow rank's is longer.
class TickingClock final : public Clock {
 public:
  explicit TickingClock(Duration tick) : tick_(tick) {}
  Duration Now() const override { return now_ += tick_; }
  Duration WallNow() const override { return now_; }

 private:
  const Duration tick_;
  mutable Duration now_{};
};

struct RunOutcome {
  std::vector<float> parameters;
  std::vector<float> gradients;
  LoopResult result;
};

/// Trains on `world` ranks in one process and returns what rank 0 has; all ranks must agree.
RunOutcome Train(const RunSettings& settings) {
  const WindowedRows data = LoopRows(300, 8);
  RunOutcome outcome;
  std::mutex mutex;
  comm::RunRanks(settings.world, [&](comm::Communicator& comm) {
    Folds folds;
    if (settings.folds) {
      folds = {.folds = 2, .rows = data.rows()};
      for (std::size_t i = 0; i < data.rows(); ++i) folds.of_row.push_back(i % 2);
    }
    std::vector<std::uint32_t> rows(data.rows());
    std::iota(rows.begin(), rows.end(), 0U);
    const auto all = std::span<const std::uint32_t>(rows);
    auto plan = *Plan::Make(MakeSpec(8, 2), settings.loop.global_batch);
    plan->Initialize(kLoopSeed + static_cast<std::uint64_t>(comm.rank()));  // rank 0's must win
    auto optimizer = *MakeOptimizer({.learning_rate = 1e-2}, plan->parameters().size());
    const TickingClock clock(std::chrono::microseconds(comm.rank() == 1 ? 9 : 3));
    const LoopContext context{
        comm, *plan, data, folds, all.subspan(settings.validation), all.first(settings.validation),
        clock};
    auto result = TrainLoop(context, *optimizer, settings.loop);
    ASSERT_TRUE(result) << result.error().what();
    const std::lock_guard lock(mutex);
    const auto parameters = plan->parameters();
    if (!outcome.parameters.empty()) {
      EXPECT_TRUE(std::equal(parameters.begin(), parameters.end(), outcome.parameters.begin()));
    }
    outcome.parameters.assign(parameters.begin(), parameters.end());
    outcome.gradients.assign(plan->gradients().begin(), plan->gradients().end());
    outcome.result = *std::move(result);
  });
  return outcome;
}

double LargestDifference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

double LargestValue(const std::vector<float>& a) {
  return LargestDifference(a, std::vector<float>(a.size(), 0.0F));
}

LoopOptions Options(std::int64_t steps, bool deterministic = false, double trim = 0.0) {
  return {.global_batch = 64,
          .steps = steps,
          .learning_rate = 1e-2,
          .step = {.seed = kLoopSeed, .deterministic = deterministic, .trim = trim}};
}

class WorldTest : public testing::TestWithParam<int> {};

TEST_P(WorldTest, FirstGradientDoesNotDependOnTheNumberOfRanks) {
  for (const double trim : {0.0, 0.1}) {
    const auto one = Train({.loop = Options(1, false, trim)});
    const auto many = Train({.world = GetParam(), .loop = Options(1, false, trim)});
    EXPECT_LE(LargestDifference(one.gradients, many.gradients), 1e-5 * LargestValue(one.gradients))
        << "trim " << trim << " seed " << kLoopSeed;
  }
}

TEST_P(WorldTest, DeterministicRunsAreBitEqual) {
  for (const double trim : {0.0, 0.1}) {
    const RunSettings settings{.loop = Options(40, true, trim), .folds = true, .validation = 50};
    auto parallel = settings;
    parallel.world = GetParam();
    const auto one = Train(settings);
    const auto many = Train(parallel);
    EXPECT_EQ(one.parameters, many.parameters) << "trim " << trim << " seed " << kLoopSeed;
    EXPECT_EQ(one.result.epochs.back().validation_loss, many.result.epochs.back().validation_loss);
  }
}

TEST_P(WorldTest, BalancedGradientsAgreeWithTheEvenCut) {
  for (const std::size_t batch : {1U, 3U, 100U, 256U, 300U}) {
    const std::size_t rows = GlobalBatch(300, batch, 0).size();
    const bool uneven = rows >= 32 * static_cast<std::size_t>(GetParam());
    for (const double trim : {0.0, 0.1}) {
      RunSettings settings{.world = GetParam(), .loop = Options(20, false, trim), .folds = true};
      settings.loop.global_batch = batch;
      settings.loop.learning_rate = 1e-6;  // so small that rounding cannot grow over the steps
      const auto even = Train(settings);
      settings.loop.step.balance = true;
      const auto balanced = Train(settings);
      EXPECT_LE(LargestDifference(even.gradients, balanced.gradients),
                1e-5 * LargestValue(even.gradients))
          << "batch " << batch << " trim " << trim << " seed " << kLoopSeed;
      EXPECT_EQ(even.gradients != balanced.gradients, uneven)
          << "batch " << batch << " trim " << trim << ": were the cuts those expected?";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, WorldTest, testing::Values(2, 3, 4, 8));

TEST(TrainLoopTest, LossFallsAndRecordsAreComplete) {
  const auto run = Train({.world = 2, .loop = Options(200), .folds = true, .validation = 60});
  const auto& epochs = run.result.epochs;
  ASSERT_GE(epochs.size(), 2U);
  EXPECT_EQ(run.result.steps, 200);
  EXPECT_LT(epochs.back().train_loss, 0.7 * epochs.front().train_loss);
  EXPECT_LT(epochs.back().validation_loss, epochs.front().validation_loss);
  EXPECT_TRUE(std::isfinite(epochs.back().left_out_loss));
  EXPECT_GT(run.result.rows_per_second, 0.0);
}

TEST(TrainLoopTest, StopsEarlyAndKeepsTheBestParameters) {
  auto options = Options(5000);
  options.learning_rate = 0.2;  // too large on purpose: the validation loss cannot keep falling
  options.patience = 3;
  const auto run = Train({.loop = options, .validation = 60});
  EXPECT_TRUE(run.result.stopped_early);
  EXPECT_LT(run.result.steps, 5000);
  for (const auto& epoch : run.result.epochs) {
    EXPECT_LE(run.result.best_validation_loss, epoch.validation_loss);
  }
}

TEST(TrainLoopTest, MembersDoNotLearnFromTheRowsTheyLeaveOut) {
  // One fold holds every row: its member must stay where it started.
  const WindowedRows data = LoopRows(64, 4);
  comm::RunRanks(1, [&](comm::Communicator& comm) {
    const Folds folds{
        .folds = 2, .rows = data.rows(), .of_row = std::vector<std::uint8_t>(data.rows(), 0)};
    std::vector<std::uint32_t> rows(data.rows());
    std::iota(rows.begin(), rows.end(), 0U);
    auto plan = *Plan::Make(MakeSpec(4, 2), 64);
    plan->Initialize(kLoopSeed);
    const std::vector<float> before(plan->parameters().begin(), plan->parameters().end());
    auto optimizer = *MakeOptimizer({}, plan->parameters().size());
    const LoopContext context{comm, *plan, data, folds, rows, {}, SystemClock()};
    ASSERT_TRUE(TrainLoop(context, *optimizer, Options(5)));
    std::size_t moved = 0;
    for (std::size_t i = 0; i < before.size(); ++i) moved += plan->parameters()[i] != before[i];
    EXPECT_GT(moved, 0U);
    EXPECT_LE(moved, before.size() / 2);
  });
}

struct BadOptions {
  const char* message;
  void (*spoil)(LoopOptions&);
};

TEST(TrainLoopTest, RefusesOptionsOutsideTheirRange) {
  const BadOptions cases[] = {
      {"global batch must be >= 1", [](LoopOptions& o) { o.global_batch = 0; }},
      {"steps must be >= 1", [](LoopOptions& o) { o.steps = 0; }},
      {"learning rate must be > 0", [](LoopOptions& o) { o.learning_rate = std::nan(""); }},
      {"trim must be in [0, 0.5]", [](LoopOptions& o) { o.step.trim = 0.6; }},
      {"balance and deterministic exclude each other",
       [](LoopOptions& o) { o.step.balance = o.step.deterministic = true; }},
      {"early stopping needs validation rows", [](LoopOptions& o) { o.patience = 1; }},
  };
  const WindowedRows data = LoopRows(8, 4);
  const Folds folds;
  const std::vector<std::uint32_t> rows{0, 1, 2, 3};
  comm::RunRanks(1, [&](comm::Communicator& comm) {
    auto plan = *Plan::Make(MakeSpec(4, 1), 64);
    auto optimizer = *MakeOptimizer({}, plan->parameters().size());
    const LoopContext context{comm, *plan, data, folds, rows, {}, SystemClock()};
    for (const auto& bad : cases) {
      auto options = Options(1);
      bad.spoil(options);
      auto result = TrainLoop(context, *optimizer, options);
      ASSERT_FALSE(result) << bad.message;
      EXPECT_EQ(result.error().what(), bad.message);
    }
  });
}

TEST(RateAtTest, WarmsUpThenDecays) {
  const LoopOptions options{
      .steps = 101, .learning_rate = 1.0, .final_rate_share = 0.1, .warmup_steps = 1};
  EXPECT_DOUBLE_EQ(RateAt(options, 0), 0.5);
  EXPECT_DOUBLE_EQ(RateAt(options, 1), 1.0);
  EXPECT_NEAR(RateAt(options, 51), 0.55, 1e-12);
  EXPECT_NEAR(RateAt(options, 101), 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(RateAt({.learning_rate = 0.5}, 900), 0.5);
}

}  // namespace
}  // namespace ringward::learn
