// A slow, plain net in double precision with the contract of Plan: what the tests compare with.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

#include "base/rng.h"
#include "learn/dense/plan.h"

namespace ringward::learn {

/// Word `index` of the stream of (seed, purpose, member, layer) for a row; see kernel/random.h.
inline std::uint32_t ReferenceWord(std::uint64_t seed, RngPurpose purpose, std::size_t member,
                                   std::size_t layer, const RowKey& key, std::size_t index) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto mixed = Philox({low(seed), low(seed >> 32)},
                            {low(member), low(layer), 0, static_cast<std::uint32_t>(purpose)});
  const auto words =
      Philox({mixed[0], mixed[1]}, {low(key.row), low(key.row >> 32), key.epoch, low(index / 4)});
  return words[index % 4];
}

/// Normal number `index` of a row: Box-Muller on pairs of words.
inline double ReferenceNormal(std::uint64_t seed, std::size_t member, const RowKey& key,
                              std::size_t index) {
  const auto word = [&](std::size_t i) {
    return ReferenceWord(seed, RngPurpose::kNoise, member, 0, key, i);
  };
  const std::uint32_t a = word(index / 2 * 2);
  const std::uint32_t b = word(index / 2 * 2 + 1);
  const double radius = std::sqrt(-2.0 * std::log(((a >> 1) + 0.5) * 0x1p-31));
  const double angle =
      (static_cast<double>(b & 0x3FFFFFFFU) - 0x1p29) * 0x1p-30 * std::numbers::pi / 2;
  const double cosine = (b >> 31) != 0 ? -std::cos(angle) : std::cos(angle);
  const bool swap = ((b >> 30) & 1U) != 0;
  return radius * ((index % 2 == 0) != swap ? cosine : std::sin(angle));
}

inline double ReferenceActivation(Activation activation, double z) {
  switch (activation) {
    case Activation::kRelu:
      return std::max(0.0, z);
    case Activation::kLeakyRelu:
      return z > 0 ? z : static_cast<double>(kLeakySlope) * z;
    case Activation::kTanh:
      return std::tanh(z);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-z));
    case Activation::kGelu:
      return z * 0.5 * std::erfc(-z / std::numbers::sqrt2);
    case Activation::kIdentity:
      break;
  }
  return z;
}

/// Outputs of one row of one member. `key` null: without noise and dropout.
inline std::vector<double> ReferenceOutput(const NetSpec& spec, std::span<const double> parameters,
                                           std::size_t member, std::span<const float> x,
                                           const RowKey* key, std::uint64_t seed) {
  std::vector<double> in(x.begin(), x.end());
  if (key != nullptr && !spec.input_noise.empty()) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      in[i] +=
          static_cast<double>(spec.input_noise[member]) * ReferenceNormal(seed, member, *key, i);
    }
  }
  std::size_t at = parameters.size() / static_cast<std::size_t>(spec.members) * member;
  for (std::size_t l = 0; l < spec.layers.size(); ++l) {
    const LayerSpec& layer = spec.layers[l];
    const auto width = static_cast<std::size_t>(layer.width);
    std::vector<double> out(width);
    for (std::size_t o = 0; o < width; ++o) {
      double z = parameters[at + in.size() * width + o];
      for (std::size_t i = 0; i < in.size(); ++i) z += in[i] * parameters[at + i * width + o];
      out[o] = ReferenceActivation(layer.activation, z);
      if (key != nullptr && layer.dropout > 0) {
        const double uniform =
            ReferenceWord(seed, RngPurpose::kDropout, member, l, *key, o) * 0x1p-32;
        out[o] = uniform < layer.dropout ? 0.0 : out[o] / (1 - layer.dropout);
      }
    }
    at += in.size() * width + width;
    in = std::move(out);
  }
  return in;
}

/// Mean squared error of one row of one member.
inline double ReferenceLoss(const NetSpec& spec, std::span<const double> parameters,
                            std::size_t member, std::span<const float> x,
                            std::span<const float> target, const RowKey* key, std::uint64_t seed) {
  const auto y = ReferenceOutput(spec, parameters, member, x, key, seed);
  double sum = 0;
  for (std::size_t o = 0; o < y.size(); ++o) {
    const double d = y[o] - static_cast<double>(target[o]);
    sum += d * d;
  }
  return sum / static_cast<double>(y.size());
}

}  // namespace ringward::learn
