// Optimizer steps over flat spans, one pass.
#pragma once

#include "learn/dense/kernel/simd.h"

namespace ringward::learn::RINGWARD_KERNELS {

// The last, shorter vector goes through a copy, so that every element sees the same instructions
// wherever it lies.

struct AdamConstants {
  F beta1, beta2, rest1, rest2, epsilon, step, second_scale, l2, shrink;
  explicit AdamConstants(const AdamArgs& a)
      : beta1(Splat(a.beta1)),
        beta2(Splat(a.beta2)),
        rest1(Splat(1.0F - a.beta1)),
        rest2(Splat(1.0F - a.beta2)),
        epsilon(Splat(a.epsilon)),
        step(Splat(-a.step)),
        second_scale(Splat(a.second_scale)),
        l2(Splat(a.l2)),
        shrink(Splat(a.shrink)) {}
};

inline void AdamVector(const AdamConstants& c, float* p, const float* g, float* first,
                       float* second) {
  const F w = Load(p);
  const F gradient = Fma(c.l2, w, Load(g));
  const F m = Fma(c.beta1, Load(first), c.rest1 * gradient);
  const F s = Fma(c.beta2, Load(second), c.rest2 * gradient * gradient);
  Store(first, m);
  Store(second, s);
  const F divisor = Fma(Sqrt(s), c.second_scale, c.epsilon);
  Store(p, Fma(c.step, m / divisor, w * c.shrink));
}

inline void Adam(const AdamArgs& args) {
  const AdamConstants c(args);
  std::size_t i = 0;
  for (; i + kStep <= args.count; i += kStep) {
    AdamVector(c, args.parameters + i, args.gradients + i, args.first + i, args.second + i);
  }
  const std::size_t left = args.count - i;
  if (left == 0) return;
  float p[kStep] = {}, g[kStep] = {}, first[kStep] = {}, second[kStep] = {};
  CopyFloats(args.parameters + i, p, left);
  CopyFloats(args.gradients + i, g, left);
  CopyFloats(args.first + i, first, left);
  CopyFloats(args.second + i, second, left);
  AdamVector(c, p, g, first, second);
  CopyFloats(p, args.parameters + i, left);
  CopyFloats(first, args.first + i, left);
  CopyFloats(second, args.second + i, left);
}

inline void SgdVector(const SgdArgs& a, float* p, const float* g, float* velocity) {
  const F w = Load(p);
  const F gradient = Fma(Splat(a.l2), w, Load(g));
  const F v = Fma(Splat(a.momentum), Load(velocity), gradient);
  Store(velocity, v);
  Store(p, Fma(Splat(-a.step), v, w));
}

inline void Sgd(const SgdArgs& args) {
  std::size_t i = 0;
  for (; i + kStep <= args.count; i += kStep) {
    SgdVector(args, args.parameters + i, args.gradients + i, args.velocity + i);
  }
  const std::size_t left = args.count - i;
  if (left == 0) return;
  float p[kStep] = {}, g[kStep] = {}, velocity[kStep] = {};
  CopyFloats(args.parameters + i, p, left);
  CopyFloats(args.gradients + i, g, left);
  CopyFloats(args.velocity + i, velocity, left);
  SgdVector(args, p, g, velocity);
  CopyFloats(p, args.parameters + i, left);
  CopyFloats(velocity, args.velocity + i, left);
}

}  // namespace ringward::learn::RINGWARD_KERNELS
