#include "comm/reduce.h"

#include <cpuid.h>
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "base/check.h"
#include "comm/half.h"

namespace ringward::comm {
namespace {

// Signed overflow is undefined in C++; the same bits come out of unsigned arithmetic, defined.
template <typename T, typename F>
T Wrapping(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return f(a, b);
  }
}

// `a != a` keeps a NaN in a; a NaN in b loses every comparison and is taken as the second choice.
struct Min {
  template <typename T>
  T operator()(T a, T b) const {
    return (a < b || a != a) ? a : b;
  }
};
struct Max {
  template <typename T>
  T operator()(T a, T b) const {
    return (a > b || a != a) ? a : b;
  }
};
struct Sum {
  template <typename T>
  T operator()(T a, T b) const {
    return Wrapping(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct Product {
  template <typename T>
  T operator()(T a, T b) const {
    return Wrapping(a, b, [](auto x, auto y) { return x * y; });
  }
};

template <typename T, typename F>
void Zip(T* out, const T* a, const T* b, std::size_t count, F f) {
#ifndef __clang__
#pragma GCC ivdep  // out may be a or b, element on element: no dependence between iterations
#endif
  for (std::size_t i = 0; i < count; ++i) out[i] = f(a[i], b[i]);
}

template <typename T>
void CombineAs(ReduceOp op, T* out, const T* a, const T* b, std::size_t count) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAverage:
      return Zip(out, a, b, count, Sum{});
    case ReduceOp::kMin:
      return Zip(out, a, b, count, Min{});
    case ReduceOp::kMax:
      return Zip(out, a, b, count, Max{});
    case ReduceOp::kProduct:
      return Zip(out, a, b, count, Product{});
  }
}

__attribute__((target("avx,f16c"))) std::size_t WidenF16c(const std::uint16_t* in, float* out,
                                                          std::size_t count) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(half));
  }
  return i;
}

__attribute__((target("avx,f16c"))) std::size_t NarrowF16c(const float* in, std::uint16_t* out,
                                                           std::size_t count) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i half =
        _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), half);
  }
  return i;
}

bool HasF16c() {
  // Asked of the processor: clang 14's __builtin_cpu_supports does not know the name.
  static const bool has = [] {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __builtin_cpu_supports("avx") != 0 && __get_cpuid(1, &a, &b, &c, &d) != 0 &&
           (c & bit_F16C) != 0;
  }();
  return has;
}

void Widen(DType dtype, const std::uint16_t* in, float* out, std::size_t count) {
  if (dtype == DType::kBFloat16) {
    for (std::size_t i = 0; i < count; ++i) out[i] = FromBFloat16(in[i]);
    return;
  }
  std::size_t i = HasF16c() ? WidenF16c(in, out, count) : 0;
  for (; i < count; ++i) out[i] = FromFloat16(in[i]);
}

void Narrow(DType dtype, const float* in, std::uint16_t* out, std::size_t count) {
  if (dtype == DType::kBFloat16) {
    for (std::size_t i = 0; i < count; ++i) out[i] = ToBFloat16(in[i]);
    return;
  }
  std::size_t i = HasF16c() ? NarrowF16c(in, out, count) : 0;
  for (; i < count; ++i) out[i] = ToFloat16(in[i]);
}

constexpr std::size_t kHalfBlock = 512;  // floats of scratch; stays in the first-level cache

void CombineHalf(ReduceOp op, DType dtype, std::uint16_t* out, const std::uint16_t* a,
                 const std::uint16_t* b, std::size_t count) {
  std::array<float, kHalfBlock> x;
  std::array<float, kHalfBlock> y;
  for (std::size_t begin = 0; begin < count; begin += kHalfBlock) {
    const std::size_t n = std::min(kHalfBlock, count - begin);
    Widen(dtype, a + begin, x.data(), n);
    Widen(dtype, b + begin, y.data(), n);
    CombineAs(op, x.data(), x.data(), y.data(), n);
    Narrow(dtype, x.data(), out + begin, n);
  }
}

void ScaleHalf(Buffer data, float factor) {
  std::array<float, kHalfBlock> x;
  auto* bits = static_cast<std::uint16_t*>(data.data);
  for (std::size_t begin = 0; begin < data.count; begin += kHalfBlock) {
    const std::size_t n = std::min(kHalfBlock, data.count - begin);
    Widen(data.dtype, bits + begin, x.data(), n);
    for (std::size_t i = 0; i < n; ++i) x[i] *= factor;
    Narrow(data.dtype, x.data(), bits + begin, n);
  }
}

template <typename T>
void Divide(void* data, std::size_t count, int by) {
  auto* values = static_cast<T*>(data);
  const T divisor = static_cast<T>(by);
  for (std::size_t i = 0; i < count; ++i) values[i] /= divisor;
}

bool IsHalf(DType dtype) { return SizeOf(dtype) == 2; }

}  // namespace

void Combine(ReduceOp op, DType dtype, void* out, const void* a, const void* b, std::size_t count) {
  const auto as = [&](auto type) {
    using T = decltype(type);
    CombineAs(op, static_cast<T*>(out), static_cast<const T*>(a), static_cast<const T*>(b), count);
  };
  switch (dtype) {
    case DType::kFloat16:
    case DType::kBFloat16:
      return CombineHalf(op, dtype, static_cast<std::uint16_t*>(out),
                         static_cast<const std::uint16_t*>(a), static_cast<const std::uint16_t*>(b),
                         count);
    case DType::kFloat32:
      return as(float{});
    case DType::kFloat64:
      return as(double{});
    case DType::kInt32:
      return as(std::int32_t{});
    case DType::kInt64:
      return as(std::int64_t{});
  }
}

void ScaleBefore(ReduceOp op, Buffer data, int size) {
  if (op == ReduceOp::kAverage && IsHalf(data.dtype)) {
    ScaleHalf(data, 1.0F / static_cast<float>(size));
  }
}

void ScaleAfter(ReduceOp op, Buffer data, int size) {
  if (op != ReduceOp::kAverage || size == 1) return;
  switch (data.dtype) {
    case DType::kFloat16:
    case DType::kBFloat16:
      return;
    case DType::kFloat32:
      return Divide<float>(data.data, data.count, size);
    case DType::kFloat64:
      return Divide<double>(data.data, data.count, size);
    case DType::kInt32:
      return Divide<std::int32_t>(data.data, data.count, size);
    case DType::kInt64:
      return Divide<std::int64_t>(data.data, data.count, size);
  }
}

}  // namespace ringward::comm
