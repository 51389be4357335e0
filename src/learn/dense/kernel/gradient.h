// Gradients of a layer's weights and biases: sums over rows.
#pragma once

#include "learn/dense/kernel/product.h"
#include "learn/dense/kernel/transpose.h"

namespace ringward::learn::RINGWARD_KERNELS {

/// weights[i .. i+M)[o .. o+V vectors) from the delta of those outputs as [panel][row][16 outputs].
template <int kUnroll, int M, int V>
inline void GradientBlock(const GradientArgs& args, std::size_t i, std::size_t o) {
  Tile<M, V> tile = {};
  for (std::size_t p = 0; p < args.panels; ++p) {
    Accumulate<kUnroll, M, V>(args.x.At(p) + i * kPanelRows, kPanelRows, 1,
                              args.scratch + p * kPanelRows * kPanelRows, kPanelRows, tile);
  }
  const std::size_t out = args.delta.width;
  float* to = args.weights + i * out + o;
  if (out - o >= V * kStep) {
    ForTile<M, V>([&](int m, int v, std::size_t) {
      Store(to + static_cast<std::size_t>(m) * out + static_cast<std::size_t>(v) * kStep,
            tile[m][v]);
    });
    return;
  }
  float block[M][V * kStep];
  ForTile<M, V>([&](int m, int v, std::size_t) {
    Store(&block[m][static_cast<std::size_t>(v) * kStep], tile[m][v]);
  });
  for (std::size_t m = 0; m < M; ++m) CopyFloats(block[m], to + m * out, out - o);
}

/// bias[o .. o+16) from the same delta: even and odd rows apart, to halve the chain of additions.
inline void BiasGradient(const GradientArgs& args, std::size_t o) {
  F even[kVectors] = {};
  F odd[kVectors] = {};
  for (std::size_t r = 0; r < args.panels * kPanelRows; r += 2) {
    const float* row = args.scratch + r * kPanelRows;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      even[v] += Load(row + static_cast<std::size_t>(v) * kStep);
      odd[v] += Load(row + kPanelRows + static_cast<std::size_t>(v) * kStep);
    }
  }
  float sum[kPanelRows];
  for (int v = 0; v < kVectors; ++v) {
    Store(sum + static_cast<std::size_t>(v) * kStep, even[v] + odd[v]);
  }
  const std::size_t left = args.delta.width - o;
  CopyFloats(sum, args.bias + o, left < kPanelRows ? left : kPanelRows);
}

/// All inputs, V vectors of outputs from o on. Fewer vectors leave registers for more inputs.
template <int kUnroll, int V>
inline void GradientColumns(const GradientArgs& args, std::size_t o) {
  constexpr int kInputs = kBlock * kVectors / V;
  for (std::size_t i = 0; i < args.x.width;) {
    const int block = BlockSize<kInputs>(args.x.width - i);
    WithInt<kInputs>(block, [&](auto m) { GradientBlock<kUnroll, m.kValue, V>(args, i, o); });
    i += static_cast<std::size_t>(block);
  }
}

template <int kUnroll>
inline void GradientWeights(const GradientArgs& args) {
  for (std::size_t o = 0; o < args.delta.width; o += kPanelRows) {
    std::size_t left = args.delta.width - o;
    if (left > kPanelRows) left = kPanelRows;
    for (std::size_t p = 0; p < args.panels; ++p) {
      TransposeTile(args.delta.At(p) + o * kPanelRows, left,
                    args.scratch + p * kPanelRows * kPanelRows);
    }
    WithInt<kVectors>(static_cast<int>((left + kStep - 1) / kStep),
                      [&](auto v) { GradientColumns<kUnroll, v.kValue>(args, o); });
    BiasGradient(args, o);
  }
}

inline void Gradient(const GradientArgs& args) {
  WithUnroll(args.x.width, [&](auto unroll) { GradientWeights<unroll.kValue>(args); });
}

}  // namespace ringward::learn::RINGWARD_KERNELS
