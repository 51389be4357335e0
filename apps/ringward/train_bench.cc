#include "ringward/train_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <span>
#include <utility>

#include "base/rng.h"
#include "learn/dense/kernels.h"
#include "ringward/openblas.h"

namespace ringward::bench {
namespace {

using learn::NetSpec;
using SteadyClock = std::chrono::steady_clock;

double Seconds(SteadyClock::duration span) { return std::chrono::duration<double>(span).count(); }

/// Calls of `body` per second, over at least `seconds`, after a warm-up of a tenth of that.
double Rate(double seconds, const std::function<void()>& body) {
  const auto run = [&](double span) {
    const auto start = SteadyClock::now();
    std::size_t calls = 0;
    // The clock is read once per group of calls, so that it costs nothing beside small nets.
    for (std::size_t group = 1;; group = std::min<std::size_t>(group * 2, 64)) {
      for (std::size_t i = 0; i < group; ++i) body();
      calls += group;
      const double passed = Seconds(SteadyClock::now() - start);
      if (passed >= span) return static_cast<double>(calls) / passed;
    }
  };
  run(seconds / 10);
  return run(seconds);
}

NetSpec SpecOf(const TrainBenchOptions& options) {
  NetSpec spec;
  spec.inputs = options.layers.front();
  for (std::size_t l = 1; l < options.layers.size(); ++l) {
    spec.layers.push_back({options.layers[l], options.activation, 0.0});
  }
  spec.layers.back().activation = learn::Activation::kIdentity;
  spec.members = options.members;
  if (options.input_noise > 0) {
    spec.input_noise.assign(static_cast<std::size_t>(std::max(options.members, 0)),
                            static_cast<float>(options.input_noise));
  }
  return spec;
}

/// Normal numbers of which neighbouring columns are alike, so that there is something to learn.
std::vector<float> MakeRows(std::size_t rows, std::size_t cols) {
  Rng rng(1);
  std::vector<float> values(rows * cols);
  double last = 0;
  for (float& v : values) {
    last = 0.9 * last + 0.4 * rng.Normal();
    v = static_cast<float>(last);
  }
  return values;
}

/// One product of a step: C [m, n] = A [m, k] B [k, n], where A or B may be stored transposed.
struct Product {
  bool a_transposed, b_transposed;
  int m, n, k;
};

/// Of one member: y = x W, dW = x^T d, dx = d W^T (the first layer needs no dx).
std::vector<Product> ProductsOf(const std::vector<int>& layers, int batch) {
  std::vector<Product> products;
  for (std::size_t l = 1; l < layers.size(); ++l) {
    const int in = layers[l - 1];
    const int out = layers[l];
    products.push_back({false, false, batch, out, in});
    products.push_back({true, false, in, out, batch});
    if (l > 1) products.push_back({false, true, batch, in, out});
  }
  return products;
}

double Flops(const std::vector<Product>& products) {
  double flops = 0;
  for (const Product& p : products) flops += 2.0 * p.m * p.n * p.k;
  return flops;
}

/// Of the products of one row through all members.
double ForwardFlops(const NetSpec& spec) {
  double flops = 0;
  double inputs = spec.inputs;
  for (const learn::LayerSpec& layer : spec.layers) {
    flops += 2.0 * inputs * layer.width * spec.members;
    inputs = layer.width;
  }
  return flops;
}

double SgemmGflops(const OpenBlas& blas, const std::vector<Product>& products, double seconds) {
  std::size_t largest = 0;
  for (const Product& p : products) {
    const auto m = static_cast<std::size_t>(p.m);
    const auto n = static_cast<std::size_t>(p.n);
    const auto k = static_cast<std::size_t>(p.k);
    largest = std::max({largest, m * k, k * n, m * n});
  }
  const std::vector<float> a(largest, 0.5F);
  const std::vector<float> b(largest, 0.25F);
  std::vector<float> c(largest);
  const double steps = Rate(seconds, [&] {
    for (const Product& p : products) {
      blas.Multiply(p.a_transposed, p.b_transposed, p.m, p.n, p.k, a.data(), b.data(), c.data());
    }
  });
  return steps * Flops(products) * 1e-9;
}

/// What the core reaches on multiply-adds alone.
double PeakGflops(learn::Isa isa, double seconds) {
  constexpr std::size_t kTurns = 1000;
  const learn::Kernels& kernels = learn::KernelsFor(isa);
  volatile float kept = 0.0F;
  const double bursts = Rate(seconds, [&] { kept = kernels.multiply_adds(kTurns); });
  return bursts * kTurns * kernels.multiply_add_flops * 1e-9;
}

double Mean(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Activate(learn::Activation activation, double z) {
  switch (activation) {
    case learn::Activation::kRelu:
      return std::max(0.0, z);
    case learn::Activation::kLeakyRelu:
      return z > 0 ? z : static_cast<double>(learn::kLeakySlope) * z;
    case learn::Activation::kTanh:
      return std::tanh(z);
    case learn::Activation::kSigmoid:
      return 1 / (1 + std::exp(-z));
    case learn::Activation::kGelu:
      return z * 0.5 * std::erfc(-z / std::numbers::sqrt2);
    case learn::Activation::kIdentity:
      break;
  }
  return z;
}

/// One row through one member, the plain way.
std::vector<double> PlainOutput(const NetSpec& spec, std::span<const float> parameters,
                                std::span<const float> x) {
  std::vector<double> in(x.begin(), x.end());
  std::size_t at = 0;
  for (const learn::LayerSpec& layer : spec.layers) {
    const auto width = static_cast<std::size_t>(layer.width);
    std::vector<double> out(width);
    for (std::size_t o = 0; o < width; ++o) {
      double z = static_cast<double>(parameters[at + in.size() * width + o]);
      for (std::size_t i = 0; i < in.size(); ++i) {
        z += in[i] * static_cast<double>(parameters[at + i * width + o]);
      }
      out[o] = Activate(layer.activation, z);
    }
    at += in.size() * width + width;
    in = std::move(out);
  }
  return in;
}

/// Outputs [members, rows, outputs] of the first 16 rows that differ from a plain computation in
/// double precision by more than float32 arithmetic explains.
std::size_t CountWrong(learn::Plan& plan, std::span<const float> x, std::size_t rows,
                       std::span<const float> out) {
  const NetSpec& spec = plan.spec();
  const auto members = static_cast<std::size_t>(spec.members);
  const auto inputs = static_cast<std::size_t>(spec.inputs);
  const std::size_t outputs = out.size() / (members * rows);
  const std::size_t size = plan.parameters().size() / members;
  std::size_t wrong = 0;
  for (std::size_t e = 0; e < members; ++e) {
    for (std::size_t r = 0; r < std::min<std::size_t>(rows, 16); ++r) {
      const auto want = PlainOutput(spec, plan.parameters().subspan(e * size, size),
                                    x.subspan(r * inputs, inputs));
      for (std::size_t o = 0; o < outputs; ++o) {
        const auto got = static_cast<double>(out[(e * rows + r) * outputs + o]);
        wrong += !(std::abs(got - want[o]) <= 1e-4 * (1 + std::abs(want[o]))) ? 1 : 0;
      }
    }
  }
  return wrong;
}

Result<TrainBenchResult> BenchBatch(const TrainBenchOptions& options, const OpenBlas* blas,
                                    std::size_t batch) {
  const NetSpec spec = SpecOf(options);
  RINGWARD_ASSIGN(const auto plan,
                  learn::Plan::Make(spec, {.batch_max = batch, .isa = options.isa}));
  RINGWARD_ASSIGN(const auto optimizer,
                  MakeOptimizer(options.optimizer, plan->parameters().size(), options.isa));
  plan->Initialize(1);
  const auto members = static_cast<std::size_t>(spec.members);
  const auto inputs = static_cast<std::size_t>(spec.inputs);
  const auto outputs = static_cast<std::size_t>(spec.layers.back().width);
  const auto x = MakeRows(batch, inputs);
  const auto target = inputs == outputs ? x : MakeRows(batch, outputs);
  const std::vector<float> weights(batch * members, 1.0F / static_cast<float>(batch));
  std::vector<float> losses(batch * members);
  std::vector<learn::RowKey> keys(batch);
  for (std::size_t r = 0; r < batch; ++r) keys[r].row = r;

  TrainBenchResult result;
  result.batch = batch;
  plan->Evaluate(x, target, losses);
  result.loss_first = Mean(losses);
  result.steps_per_second = Rate(options.seconds, [&] {
    plan->Forward(x, target, keys, 1, losses);
    plan->Backward(weights);
    optimizer->Step(plan->parameters(), plan->gradients());
  });
  plan->Evaluate(x, target, losses);
  result.loss_last = Mean(losses);
  const auto products = ProductsOf(options.layers, static_cast<int>(batch));
  result.rows_per_second = result.steps_per_second * static_cast<double>(batch);
  result.gflops = result.steps_per_second * Flops(products) * options.members * 1e-9;
  if (blas != nullptr) result.sgemm_gflops = SgemmGflops(*blas, products, options.seconds);
  std::vector<float> out(members * batch * outputs);
  result.infer_rows_per_second =
      static_cast<double>(batch) * Rate(options.seconds, [&] { plan->Infer(x, batch, out); });
  result.infer_gflops = result.infer_rows_per_second * ForwardFlops(spec) * 1e-9;
  result.peak_gflops = PeakGflops(options.isa, options.seconds);
  result.wrong = CountWrong(*plan, x, batch, out);
  return result;
}

}  // namespace

Result<TrainBench> RunTrainBench(const TrainBenchOptions& options) {
  if (options.layers.size() < 2) {
    return Error(Code::kInvalidInput, "--layers needs at least two widths, e.g. 20,10,20");
  }
  if (options.batches.empty()) return Error(Code::kInvalidInput, "--batch needs a size");
  const auto blas = OpenBlas::Load();
  TrainBench bench;
  if (blas != nullptr) bench.blas = blas->Name();
  for (const std::size_t batch : options.batches) {
    RINGWARD_ASSIGN(const auto result, BenchBatch(options, blas.get(), batch));
    bench.results.push_back(result);
  }
  return bench;
}

}  // namespace ringward::bench
