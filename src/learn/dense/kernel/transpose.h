// Between row-major rows and panels.
#pragma once

#include "learn/dense/kernel/simd.h"

namespace ringward::learn::RINGWARD_KERNELS {

/// to[c][r] = from[r][c] of a 4 x 4 block.
inline void Transpose4(const float* from, std::size_t from_stride, float* to,
                       std::size_t to_stride) {
  __m128 a = _mm_loadu_ps(from);
  __m128 b = _mm_loadu_ps(from + from_stride);
  __m128 c = _mm_loadu_ps(from + 2 * from_stride);
  __m128 d = _mm_loadu_ps(from + 3 * from_stride);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_storeu_ps(to, a);
  _mm_storeu_ps(to + to_stride, b);
  _mm_storeu_ps(to + 2 * to_stride, c);
  _mm_storeu_ps(to + 3 * to_stride, d);
}

/// to[row][feature] of 16 x 16 from `features` features of a panel. Reads and writes up to three
/// features more; the others are left as they are.
inline void TransposeTile(const float* panel, std::size_t features, float* to) {
  for (std::size_t f = 0; f < features; f += 4) {
    for (std::size_t r = 0; r < kPanelRows; r += 4) {
      Transpose4(panel + f * kPanelRows + r, kPanelRows, to + r * kPanelRows + f, kPanelRows);
    }
  }
}

inline void ToPanels(const float* rows_major, std::size_t rows, const Panels& out) {
  const std::size_t cols = out.width;
  for (std::size_t r0 = 0; r0 < rows; r0 += kPanelRows) {
    const std::size_t left = rows - r0 < kPanelRows ? rows - r0 : kPanelRows;
    const float* from = rows_major + r0 * cols;
    float* to = out.At(r0 / kPanelRows);
    std::size_t c = left == kPanelRows ? cols / 4 * 4 : 0;
    for (std::size_t f = 0; f < c; f += 4) {
      for (std::size_t r = 0; r < kPanelRows; r += 4) {
        Transpose4(from + r * cols + f, cols, to + f * kPanelRows + r, kPanelRows);
      }
    }
    for (; c < cols; ++c) {
      for (std::size_t r = 0; r < kPanelRows; ++r) {
        to[c * kPanelRows + r] = r < left ? from[r * cols + c] : 0.0F;
      }
    }
  }
}

inline void FromPanels(const Panels& in, std::size_t rows, float* rows_major) {
  const std::size_t cols = in.width;
  for (std::size_t r0 = 0; r0 < rows; r0 += kPanelRows) {
    const std::size_t left = rows - r0 < kPanelRows ? rows - r0 : kPanelRows;
    const float* from = in.At(r0 / kPanelRows);
    float* to = rows_major + r0 * cols;
    std::size_t c = left == kPanelRows ? cols / 4 * 4 : 0;
    for (std::size_t f = 0; f < c; f += 4) {
      for (std::size_t r = 0; r < kPanelRows; r += 4) {
        Transpose4(from + f * kPanelRows + r, kPanelRows, to + r * cols + f, cols);
      }
    }
    for (; c < cols; ++c) {
      for (std::size_t r = 0; r < left; ++r) to[r * cols + c] = from[c * kPanelRows + r];
    }
  }
}

}  // namespace ringward::learn::RINGWARD_KERNELS
