// Activations, their slopes, the loss and the delta it starts.
#pragma once

#include "learn/dense/kernel/math.h"

namespace ringward::learn::RINGWARD_KERNELS {

/// Whether Activate is one instruction, so that it is applied in registers.
inline bool IsCheap(Activation a) {
  return a == Activation::kIdentity || a == Activation::kRelu || a == Activation::kLeakyRelu;
}

inline F ActivateCheap(Activation a, F z) {
  if (a == Activation::kRelu) return Max(Zero(), z);
  if (a == Activation::kLeakyRelu) return Max(Splat(kLeakySlope) * z, z);
  return z;
}

/// dy/dz from y, for all but gelu.
inline F SlopeOf(Activation a, F y) {
  const F one = Splat(1.0F);
  switch (a) {
    case Activation::kRelu:
      return Select(y > Zero(), one, Zero());
    case Activation::kLeakyRelu:
      return Select(y > Zero(), one, Splat(kLeakySlope));
    case Activation::kTanh:
      return one - y * y;
    case Activation::kSigmoid:
      return y * (one - y);
    case Activation::kIdentity:
    case Activation::kGelu:
      break;
  }
  return one;
}

/// Turns z into y in place for the activations that are not cheap; writes slopes where asked.
inline void ActivateInPlace(Activation a, float* z, std::size_t count, float* slope) {
  for (std::size_t i = 0; i < count; i += kStep) {
    F y = Load(z + i);
    F d = Zero();
    if (a == Activation::kTanh) {
      y = Tanh(y);
    } else if (a == Activation::kSigmoid) {
      y = Sigmoid(y);
    } else {
      y = Gelu(y, &d);
      if (slope != nullptr) Store(slope + i, d);
    }
    Store(z + i, y);
  }
}

/// Slopes from outputs, for layers that must keep them.
inline void WriteSlopes(Activation a, const float* y, std::size_t count, float* slope) {
  if (a == Activation::kGelu) return;  // already written
  for (std::size_t i = 0; i < count; i += kStep) Store(slope + i, SlopeOf(a, Load(y + i)));
}

inline void Loss(const Panels& y, const Panels& target, std::size_t panels, float* losses) {
  const F scale = Splat(1.0F / static_cast<float>(y.width));
  for (std::size_t p = 0; p < panels; ++p) {
    const float* a = y.At(p);
    const float* b = target.At(p);
    F sum[kVectors] = {};
    for (std::size_t o = 0; o < y.width; ++o) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const std::size_t i = o * kPanelRows + static_cast<std::size_t>(v) * kStep;
        const F d = Load(a + i) - Load(b + i);
        sum[v] = Fma(d, d, sum[v]);
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      Store(losses + p * kPanelRows + static_cast<std::size_t>(v) * kStep, sum[v] * scale);
    }
  }
}

/// delta[i] = (y - target) * row weight * slope(i, y) of one panel.
template <typename Slope>
inline void PanelDelta(const OutputDeltaArgs& args, std::size_t panel, Slope&& slope) {
  const float* y = args.y.At(panel);
  const float* t = args.target.At(panel);
  float* delta = args.delta.At(panel);
  F weight[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    weight[v] = Load(args.row_weight + panel * kPanelRows + static_cast<std::size_t>(v) * kStep);
  }
  for (std::size_t o = 0; o < args.y.width; ++o) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const std::size_t i = o * kPanelRows + static_cast<std::size_t>(v) * kStep;
      const F value = Load(y + i);
      Store(delta + i, slope((value - Load(t + i)) * weight[v], i, value));
    }
  }
}

inline void OutputDelta(const OutputDeltaArgs& args) {
  for (std::size_t p = 0; p < args.panels; ++p) {
    if (args.slope != nullptr) {
      const float* slope = args.slope + p * args.y.stride;
      PanelDelta(args, p, [&](F d, std::size_t i, F) { return d * Load(slope + i); });
    } else if (args.activation == Activation::kIdentity) {
      PanelDelta(args, p, [](F d, std::size_t, F) { return d; });
    } else {
      PanelDelta(args, p, [&](F d, std::size_t, F y) { return d * SlopeOf(args.activation, y); });
    }
  }
}

}  // namespace ringward::learn::RINGWARD_KERNELS
