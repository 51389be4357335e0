// Vectors of the instruction set this file is compiled for, under namespace RINGWARD_KERNELS.
//
// Only kernels_<isa>.cc include the headers of this folder. They may include nothing with inline
// functions (no standard containers or algorithms): the linker could pick the copy compiled for
// a wider instruction set for the whole program.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "learn/dense/kernels.h"

namespace ringward::learn::RINGWARD_KERNELS {

#if defined(__AVX512F__)
inline constexpr int kLanes = 16;
inline constexpr int kBlock = 12;      ///< features a product keeps in registers (see product.h)
inline constexpr int kWideUnroll = 4;  ///< terms a turn of the loop over k, in wide layers
using F = __m512;
inline F Splat(float x) { return _mm512_set1_ps(x); }
inline F Fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
inline F Max(F a, F b) { return _mm512_max_ps(a, b); }
inline F Min(F a, F b) { return _mm512_min_ps(a, b); }
inline F Sqrt(F a) { return _mm512_sqrt_ps(a); }
#elif defined(__AVX2__)
inline constexpr int kLanes = 8;
inline constexpr int kBlock = 6;
inline constexpr int kWideUnroll = 4;
using F = __m256;
inline F Splat(float x) { return _mm256_set1_ps(x); }
inline F Fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
inline F Max(F a, F b) { return _mm256_max_ps(a, b); }
inline F Min(F a, F b) { return _mm256_min_ps(a, b); }
inline F Sqrt(F a) { return _mm256_sqrt_ps(a); }
#else
inline constexpr int kLanes = 4;
inline constexpr int kBlock = 2;
inline constexpr int kWideUnroll = 1;
using F = __m128;
inline F Splat(float x) { return _mm_set1_ps(x); }
inline F Fma(F a, F b, F c) { return a * b + c; }
inline F Max(F a, F b) { return _mm_max_ps(a, b); }
inline F Min(F a, F b) { return _mm_min_ps(a, b); }
inline F Sqrt(F a) { return _mm_sqrt_ps(a); }
#endif
// Max and Min return b where either is not a number: pass the value that must survive as b.

inline constexpr std::size_t kStep = kLanes;
inline constexpr int kVectors = static_cast<int>(kPanelRows) / kLanes;  ///< of one panel's rows

// Typedefs: both compilers take attributes of this kind only there.
typedef std::int32_t I __attribute__((vector_size(4 * kLanes)));
typedef std::uint32_t U __attribute__((vector_size(4 * kLanes)));
typedef std::uint64_t W __attribute__((vector_size(4 * kLanes)));  ///< half as many, 64 bits
typedef float Loose __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));
typedef std::uint32_t LooseU __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));

inline F Load(const float* p) { return *reinterpret_cast<const Loose*>(p); }
inline void Store(float* p, F v) { *reinterpret_cast<Loose*>(p) = v; }

/// Fma(a, b, sum) in the register of `sum`, for unrolled loops that use all 16 registers: there gcc
/// 12 lets the result take the place of `a`, and moves or spills others. (Short loops it gets
/// right.)
inline F FmaInPlace(F a, F b, F sum) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  asm("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
  return sum;
#else
  return Fma(a, b, sum);
#endif
}

inline U LoadU(const std::uint32_t* p) { return *reinterpret_cast<const LooseU*>(p); }
inline U SplatU(std::uint32_t x) { return U{} + x; }
inline F Zero() { return F{}; }

/// Bits of a vector as another type of the same size.
inline I AsI(F v) { return reinterpret_cast<I>(v); }
inline U AsU(F v) { return reinterpret_cast<U>(v); }
inline F AsF(I v) { return reinterpret_cast<F>(v); }
inline F AsF(U v) { return reinterpret_cast<F>(v); }

/// where mask (all ones or all zeros a lane): a, else b.
inline F Select(I mask, F a, F b) { return AsF((mask & AsI(a)) | (~mask & AsI(b))); }

/// Product of the low 32 bits of each 64-bit lane.
inline W MulLow(W a, W b) {
#if defined(__AVX512F__)
  return reinterpret_cast<W>(_mm512_mul_epu32((__m512i)a, (__m512i)b));
#elif defined(__AVX2__)
  return reinterpret_cast<W>(_mm256_mul_epu32((__m256i)a, (__m256i)b));
#else
  return reinterpret_cast<W>(_mm_mul_epu32((__m128i)a, (__m128i)b));
#endif
}

inline void CopyFloats(const float* from, float* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
}

/// An integer as a type, to choose a template by a loop's remainder.
template <int N>
struct Int {
  static constexpr int kValue = N;
};

/// Calls body(Int<n>{}) for n in 1 .. N.
template <int N, typename Body>
inline void WithInt(int n, Body&& body) {
  if constexpr (N > 1) {
    if (n != N) return WithInt<N - 1>(n, body);
  }
  body(Int<N>{});
}

}  // namespace ringward::learn::RINGWARD_KERNELS
