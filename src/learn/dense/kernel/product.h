// The three products of a layer, on panels.
//
// All are one loop: kBlock features times one panel of 16 rows stay in registers while k runs, so
// each element is a sum over k in rising order, whatever the shapes. Nothing depends on the
// number of rows or on the position of a row.
#pragma once

#include "learn/dense/kernel/activation.h"
#include "learn/dense/kernel/random.h"

namespace ringward::learn::RINGWARD_KERNELS {

/// Longest run of k between two visits of the result: 16 KiB of a panel, half of a level-1 cache.
inline constexpr std::size_t kChunk = 256;

template <int M, int V = kVectors>
using Tile = F[M][V];

/// tile[m][:] += a[m * row] * b[0 .. V vectors).
template <int kUnroll, int M, int V>
inline void AccumulateStep(const float* a, std::size_t row, const float* b, Tile<M, V>& tile) {
  F bv[V];
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) bv[v] = Load(b + static_cast<std::size_t>(v) * kStep);
#pragma GCC unroll 16
  for (int m = 0; m < M; ++m) {
    const F s = Splat(a[static_cast<std::size_t>(m) * row]);
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      F& sum = tile[m][v];
      sum = kUnroll == 1 ? Fma(s, bv[v], sum) : FmaInPlace(s, bv[v], sum);
    }
  }
}

/// tile[m][:] += sum over k of a[m * row + k * column] * b[k][0 .. V vectors); b has 16 floats
/// per k. Unrolled, because instructions that only count cost most where the core is shared with
/// other programs (docs/decisions/0004-dense-kernels.md).
template <int kUnroll, int M, int V = kVectors>
inline void Accumulate(const float* a, std::size_t row, std::size_t column, const float* b,
                       std::size_t k, Tile<M, V>& tile) {
  constexpr std::size_t kTerms = kUnroll;
  for (; kTerms > 1 && k >= kTerms; k -= kTerms) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kTerms; ++i) {
      AccumulateStep<kUnroll, M, V>(a + i * column, row, b + i * kPanelRows, tile);
    }
    a += kTerms * column;
    b += kTerms * kPanelRows;
  }
  for (; k > 0; --k) {
    AccumulateStep<kUnroll, M, V>(a, row, b, tile);
    a += column;
    b += kPanelRows;
  }
}

/// Calls body(Int<unroll>{}) for a layer of that many inputs, or outputs where those are summed. In
/// narrow layers the longer code costs more than it saves.
template <typename Body>
inline void WithUnroll(std::size_t width, Body&& body) {
  constexpr std::size_t kWide = 32;
  if (width < kWide) return body(Int<1>{});
  body(Int<kWideUnroll>{});
}

/// Calls body(m, v, offset): offset of the vector in a block of features of a panel.
template <int M, int V = kVectors, typename Body>
inline void ForTile(Body&& body) {
#pragma GCC unroll 16
  for (int m = 0; m < M; ++m) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      body(m, v, static_cast<std::size_t>(m) * kPanelRows + static_cast<std::size_t>(v) * kStep);
    }
  }
}

/// Features of the next block when `left` remain: the last two blocks share what would leave a
/// block too short to hide the latency of its additions.
template <int kMax = kBlock>
inline int BlockSize(std::size_t left) {
  constexpr std::size_t kFull = kMax;
  if (left <= kFull) return static_cast<int>(left);
  if (left >= 2 * kFull) return kMax;
  return static_cast<int>((left + 1) / 2);
}

/// packed: per chunk of inputs, per block of outputs: [input][output of the block].
inline void PackWeights(const float* weights, std::size_t in, std::size_t out, float* packed) {
  for (std::size_t k0 = 0; k0 < in; k0 += kChunk) {
    const std::size_t k = in - k0 < kChunk ? in - k0 : kChunk;
    for (std::size_t o = 0; o < out;) {
      const int block = BlockSize<>(out - o);
      const auto step = static_cast<std::size_t>(block);
      const float* from = weights + k0 * out + o;
      // Each store is a whole vector; the next one overwrites what was too much.
      for (std::size_t i = 0; i < k; ++i) Store(packed + i * step, Load(from + i * out));
      packed += k * step;
      o += step;
    }
  }
}

template <int kUnroll, int M>
inline void ForwardBlock(const ForwardArgs& args, const float* packed, const float* x,
                         std::size_t k0, std::size_t k, std::size_t o, std::size_t panel) {
  float* y = args.y.At(panel) + o * kPanelRows;
  Tile<M> tile;
  if (k0 == 0) {
    ForTile<M>([&](int m, int v, std::size_t) {
      tile[m][v] = Splat(args.bias[o + static_cast<std::size_t>(m)]);
    });
  } else {
    ForTile<M>([&](int m, int v, std::size_t i) { tile[m][v] = Load(y + i); });
  }
  Accumulate<kUnroll, M>(packed, 1, M, x + k0 * kPanelRows, k, tile);
  const bool last = k0 + k == args.x.width;
  const Activation cheap = last ? args.activation : Activation::kIdentity;
  ForTile<M>([&](int m, int v, std::size_t i) { Store(y + i, ActivateCheap(cheap, tile[m][v])); });
}

/// What follows the products of one panel: the activations that are not cheap, slopes, dropout.
inline void FinishPanel(const ForwardArgs& args, std::size_t panel) {
  float* y = args.y.At(panel);
  float* slope = args.slope == nullptr ? nullptr : args.slope + panel * args.y.stride;
  const std::size_t count = args.y.width * kPanelRows;
  if (!IsCheap(args.activation)) ActivateInPlace(args.activation, y, count, slope);
  if (slope != nullptr) WriteSlopes(args.activation, y, count, slope);
  if (args.dropout != nullptr) Dropout(*args.dropout, panel, args.y.width, y, slope);
}

template <int kUnroll>
inline void ForwardPanels(const ForwardArgs& args) {
  for (std::size_t p = 0; p < args.panels; ++p) {
    const float* packed = args.packed;
    for (std::size_t k0 = 0; k0 < args.x.width; k0 += kChunk) {
      const std::size_t k = args.x.width - k0 < kChunk ? args.x.width - k0 : kChunk;
      for (std::size_t o = 0; o < args.y.width;) {
        const int block = BlockSize<>(args.y.width - o);
        WithInt<kBlock>(block, [&](auto m) {
          ForwardBlock<kUnroll, m.kValue>(args, packed, args.x.At(p), k0, k, o, p);
        });
        o += static_cast<std::size_t>(block);
        packed += k * static_cast<std::size_t>(block);
      }
    }
    FinishPanel(args, p);
  }
}

inline void Forward(const ForwardArgs& args) {
  WithUnroll(args.x.width, [&](auto unroll) { ForwardPanels<unroll.kValue>(args); });
}

template <int kUnroll, int M>
inline void InputDeltaBlock(const InputDeltaArgs& args, std::size_t k0, std::size_t k,
                            std::size_t i, std::size_t panel) {
  const std::size_t out = args.delta.width;
  float* result = args.input_delta.At(panel) + i * kPanelRows;
  Tile<M> tile = {};
  if (k0 != 0) ForTile<M>([&](int m, int v, std::size_t at) { tile[m][v] = Load(result + at); });
  Accumulate<kUnroll, M>(args.weights + i * out + k0, out, 1,
                         args.delta.At(panel) + k0 * kPanelRows, k, tile);
  if (k0 + k != out) {
    ForTile<M>([&](int m, int v, std::size_t at) { Store(result + at, tile[m][v]); });
    return;
  }
  const std::size_t start = panel * args.input_delta.stride + i * kPanelRows;
  if (args.slope != nullptr) {
    const float* slope = args.slope + start;
    ForTile<M>(
        [&](int m, int v, std::size_t at) { Store(result + at, tile[m][v] * Load(slope + at)); });
  } else {
    const float* y = args.y + start;
    ForTile<M>([&](int m, int v, std::size_t at) {
      Store(result + at, tile[m][v] * SlopeOf(args.activation, Load(y + at)));
    });
  }
}

template <int kUnroll>
inline void InputDeltaPanels(const InputDeltaArgs& args) {
  const std::size_t in = args.input_delta.width;
  const std::size_t out = args.delta.width;
  for (std::size_t p = 0; p < args.panels; ++p) {
    for (std::size_t k0 = 0; k0 < out; k0 += kChunk) {
      const std::size_t k = out - k0 < kChunk ? out - k0 : kChunk;
      for (std::size_t i = 0; i < in;) {
        const int block = BlockSize<>(in - i);
        WithInt<kBlock>(block,
                        [&](auto m) { InputDeltaBlock<kUnroll, m.kValue>(args, k0, k, i, p); });
        i += static_cast<std::size_t>(block);
      }
    }
  }
}

inline void InputDelta(const InputDeltaArgs& args) {
  WithUnroll(args.delta.width, [&](auto unroll) { InputDeltaPanels<unroll.kValue>(args); });
}

}  // namespace ringward::learn::RINGWARD_KERNELS
