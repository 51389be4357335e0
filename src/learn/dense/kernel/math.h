// Elementary functions on vectors. The polynomials were fitted by us (Chebyshev, in double).
#pragma once

#include "learn/dense/kernel/simd.h"

namespace ringward::learn::RINGWARD_KERNELS {

/// c[0] + x c[1] + x^2 c[2] ...
template <int N>
inline F Polynomial(F x, const float (&c)[N]) {
  F sum = Splat(c[N - 1]);
#pragma GCC unroll 16
  for (int i = N - 2; i >= 0; --i) sum = Fma(sum, x, Splat(c[i]));
  return sum;
}

/// e^x, relative error below 2e-7; x is clamped to [-87, 88], NaN stays NaN.
inline F Exp(F x) {
  static constexpr float kC[] = {5.000000013e-01F, 1.666657700e-01F, 4.166646498e-02F,
                                 8.363175565e-03F, 1.393364352e-03F};
  x = Max(Splat(-87.0F), Min(Splat(88.0F), x));
  const F magic = Splat(12582912.0F);  // 1.5 * 2^23: adding it rounds to an integer
  const F shifted = Fma(x, Splat(1.44269504F), magic);
  const F n = shifted - magic;
  const F r = Fma(n, Splat(2.12194440e-4F), Fma(n, Splat(-0.693359375F), x));
  const F p = Fma(r * r, Polynomial(r, kC), r) + Splat(1.0F);
  const U exponent = (AsU(shifted) - AsU(magic)) << 23;
  return AsF(AsU(p) + exponent);
}

/// Natural logarithm of normal x > 0, absolute error below 2e-7 times max(1, |log x|).
inline F Log(F x) {
  static constexpr float kC[] = {3.333333119e-01F,  -2.499998905e-01F, 2.000070748e-01F,
                                 -1.666848024e-01F, 1.424993653e-01F,  -1.241105069e-01F,
                                 1.166151106e-01F,  -1.157120072e-01F, 7.149753898e-02F};
  // The mantissa is brought to [sqrt(1/2), sqrt(2)).
  const I exponent = reinterpret_cast<I>(AsU(x) - AsU(Splat(0.707106781F))) >> 23;
  const F f = AsF(AsU(x) - (reinterpret_cast<U>(exponent) << 23)) - Splat(1.0F);
  const F e = __builtin_convertvector(exponent, Loose);
  const F f2 = f * f;
  F r = Fma(f2 * f, Polynomial(f, kC), f2 * Splat(-0.5F));
  r = Fma(e, Splat(-2.12194440e-4F), r);
  return Fma(e, Splat(0.693359375F), r + f);
}

/// sin and cos of x in [-pi/4, pi/4], absolute error below 1e-7.
inline void SinCos(F x, F* sin, F* cos) {
  static constexpr float kSin[] = {-1.666666467e-01F, 8.332748635e-03F, -1.958794987e-04F};
  static constexpr float kCos[] = {4.166666466e-02F, -1.388830334e-03F, 2.454799145e-05F};
  const F z = x * x;
  *sin = Fma(x * z, Polynomial(z, kSin), x);
  *cos = Fma(z * z, Polynomial(z, kCos), Fma(z, Splat(-0.5F), Splat(1.0F)));
}

inline F Abs(F x) { return AsF(AsI(x) & 0x7FFFFFFF); }
inline F CopySign(F magnitude, F sign) {
  return AsF((AsI(magnitude) & 0x7FFFFFFF) | (AsI(sign) & static_cast<std::int32_t>(0x80000000)));
}

/// Relative error below 4e-7, also near zero.
inline F Tanh(F x) {
  static constexpr float kC[] = {-3.333332910e-01F, 1.333278226e-01F, -5.385249747e-02F,
                                 2.100364122e-02F, -6.104948014e-03F};
  const F a = Abs(x);
  const F z = x * x;
  const F small = Fma(x * z, Polynomial(z, kC), x);
  const F t = Exp(a + a);
  const F large = CopySign(Splat(1.0F) - Splat(2.0F) / (t + Splat(1.0F)), x);
  return Select(a < Splat(0.625F), small, large);
}

/// 1 / (1 + e^-x).
inline F Sigmoid(F x) { return Splat(1.0F) / (Splat(1.0F) + Exp(-x)); }

/// x times the normal distribution function of x (the exact form of gelu, not the one with tanh),
/// and its derivative.
inline F Gelu(F x, F* slope) {
  // With u = 1 / (1 + 0.3 |x|): probability beyond |x| = e^(-x^2/2) P(u).
  static constexpr float kC[] = {-8.359179276e-07F, 1.196342271e-01F,  1.208028745e-01F,
                                 9.932426779e-02F,  1.310321181e-01F,  -5.902898328e-02F,
                                 2.127145701e-01F,  -1.611526678e-01F, 3.667444376e-02F};
  const F u = Splat(1.0F) / Fma(Splat(0.3F), Abs(x), Splat(1.0F));
  const F bell = Exp(x * x * Splat(-0.5F));
  const F tail = bell * Polynomial(u, kC);
  const F probability = Select(x < Zero(), tail, Splat(1.0F) - tail);
  *slope = Fma(x * bell, Splat(0.398942280F), probability);
  return x * probability;
}

}  // namespace ringward::learn::RINGWARD_KERNELS
