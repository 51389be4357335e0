// Batches and nets that the tests of this folder share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "base/rng.h"
#include "learn/dense/plan.h"

namespace ringward::learn {

/// A net and a batch's rows, run by a test on every instruction set.
struct NetCase {
  std::string name;
  NetSpec spec;
  std::size_t rows = 1;
};

inline void PrintTo(const NetCase& c, std::ostream* out) { *out << c.name; }

/// `tanh_avx2`: the name of a test over (NetCase, Isa).
inline std::string NameOfCase(const testing::TestParamInfo<std::tuple<NetCase, Isa>>& test) {
  return std::get<0>(test.param).name + "_" + std::string(IsaName(std::get<1>(test.param)));
}

struct Batch {
  std::size_t rows = 0;
  std::vector<float> x, target, weights;
  std::vector<RowKey> keys;
};

inline std::vector<float> NormalValues(Rng& rng, std::size_t count) {
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(rng.Normal());
  return values;
}

inline std::vector<float> NormalValues(std::uint64_t seed, std::size_t count) {
  Rng rng(seed);
  return NormalValues(rng, count);
}

/// Random inputs, targets, weights (some zero) and keys for `spec`.
inline Batch MakeBatch(const NetSpec& spec, std::size_t rows, std::uint64_t seed) {
  Batch batch;
  batch.rows = rows;
  Rng rng(seed);
  batch.x = NormalValues(rng, rows * static_cast<std::size_t>(spec.inputs));
  batch.target = NormalValues(rng, rows * static_cast<std::size_t>(spec.layers.back().width));
  batch.weights.resize(rows * static_cast<std::size_t>(spec.members));
  for (float& w : batch.weights) {
    w = rng.Below(4) == 0 ? 0.0F : static_cast<float>(rng.Uniform()) / static_cast<float>(rows);
  }
  for (std::size_t r = 0; r < rows; ++r) {
    batch.keys.push_back({(rng.Below(1U << 20) << 20) + r, static_cast<std::uint32_t>(r % 3)});
  }
  return batch;
}

/// A net of `widths` (inputs first) with one activation; the last layer is linear.
inline NetSpec MakeNet(const std::vector<int>& widths, Activation activation, int members = 1) {
  NetSpec spec;
  spec.inputs = widths.front();
  spec.members = members;
  for (std::size_t l = 1; l < widths.size(); ++l) {
    spec.layers.push_back({widths[l], activation, 0.0});
  }
  spec.layers.back().activation = Activation::kIdentity;
  return spec;
}

inline std::unique_ptr<Plan> MakePlan(const NetSpec& spec, const PlanOptions& options) {
  auto plan = Plan::Make(spec, options);
  RINGWARD_CHECK(static_cast<bool>(plan));
  return *std::move(plan);
}

}  // namespace ringward::learn
