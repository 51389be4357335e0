// Gradients of a layer's weights and biases: sums over rows.
#pragma once

#include "learn/dense/kernel/product.h"
#include "learn/dense/kernel/transpose.h"

namespace ringward::learn::RINGWARD_KERNELS {

/// Sum of the lanes, pairwise, in an order that depends on kLanes only.
inline float LaneSum(F v) {
  float lanes[kStep];
  Store(lanes, v);
  for (std::size_t width = kStep / 2; width > 0; width /= 2) {
    for (std::size_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

/// weights[i .. i+M)[o .. o+16) from delta transposed to [panel][row][16 outputs].
template <int M>
inline void GradientBlock(const GradientArgs& args, const float* delta_rows, std::size_t i,
                          std::size_t o) {
  Tile<M> tile = {};
  for (std::size_t p = 0; p < args.panels; ++p) {
    Accumulate<M>(args.x.At(p) + i * kPanelRows, kPanelRows, 1,
                  delta_rows + p * kPanelRows * kPanelRows, kPanelRows, tile);
  }
  const std::size_t out = args.delta.width;
  float* to = args.weights + i * out + o;
  if (out - o >= kPanelRows) {
    ForTile<M>([&](int m, int v, std::size_t) {
      Store(to + static_cast<std::size_t>(m) * out + static_cast<std::size_t>(v) * kStep,
            tile[m][v]);
    });
    return;
  }
  float block[M][kPanelRows];
  ForTile<M>([&](int m, int v, std::size_t) {
    Store(&block[m][static_cast<std::size_t>(v) * kStep], tile[m][v]);
  });
  for (std::size_t m = 0; m < M; ++m) {
    for (std::size_t q = 0; q < out - o; ++q) to[m * out + q] = block[m][q];
  }
}

inline void BiasGradient(const GradientArgs& args) {
  for (std::size_t o = 0; o < args.delta.width; ++o) {
    F sum = Zero();
    for (std::size_t p = 0; p < args.panels; ++p) {
      const float* delta = args.delta.At(p) + o * kPanelRows;
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum += Load(delta + static_cast<std::size_t>(v) * kStep);
    }
    args.bias[o] = LaneSum(sum);
  }
}

inline void Gradient(const GradientArgs& args) {
  const std::size_t in = args.x.width;
  for (std::size_t o = 0; o < args.delta.width; o += kPanelRows) {
    const std::size_t left = args.delta.width - o;
    for (std::size_t p = 0; p < args.panels; ++p) {
      TransposeTile(args.delta.At(p) + o * kPanelRows, left < kPanelRows ? left : kPanelRows,
                    args.scratch + p * kPanelRows * kPanelRows);
    }
    for (std::size_t i = 0; i < in;) {
      const int block = BlockSize(in - i);
      WithInt<kBlock>(block, [&](auto m) { GradientBlock<m.kValue>(args, args.scratch, i, o); });
      i += static_cast<std::size_t>(block);
    }
  }
  BiasGradient(args);
}

}  // namespace ringward::learn::RINGWARD_KERNELS
