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

/// to[c][r] = from[r][c] of an 8 x 8 block.
inline void Transpose8(const float* from, std::size_t from_stride, float* to,
                       std::size_t to_stride) {
#if defined(__AVX2__)
  // Rows r and r + 4 share a register, so that no value crosses its halves.
  for (std::size_t c = 0; c < 8; c += 4) {
    __m256 row[4];
#pragma GCC unroll 4
    for (std::size_t r = 0; r < 4; ++r) {
      const float* at = from + r * from_stride + c;
      row[r] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(at)),
                                    _mm_loadu_ps(at + 4 * from_stride), 1);
    }
    const __m256 low01 = _mm256_unpacklo_ps(row[0], row[1]);
    const __m256 low23 = _mm256_unpacklo_ps(row[2], row[3]);
    const __m256 high01 = _mm256_unpackhi_ps(row[0], row[1]);
    const __m256 high23 = _mm256_unpackhi_ps(row[2], row[3]);
    _mm256_storeu_ps(to + c * to_stride, _mm256_shuffle_ps(low01, low23, 0x44));
    _mm256_storeu_ps(to + (c + 1) * to_stride, _mm256_shuffle_ps(low01, low23, 0xEE));
    _mm256_storeu_ps(to + (c + 2) * to_stride, _mm256_shuffle_ps(high01, high23, 0x44));
    _mm256_storeu_ps(to + (c + 3) * to_stride, _mm256_shuffle_ps(high01, high23, 0xEE));
  }
#else
  for (std::size_t r = 0; r < 8; r += 4) {
    for (std::size_t c = 0; c < 8; c += 4) {
      Transpose4(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride);
    }
  }
#endif
}

/// to[feature][row] of a panel from 16 rows; `features` is a multiple of 4.
inline void RowsToPanel(const float* from, std::size_t from_stride, std::size_t features,
                        float* to) {
  std::size_t f = 0;
  for (; f + 8 <= features; f += 8) {
    for (std::size_t r = 0; r < kPanelRows; r += 8) {
      Transpose8(from + r * from_stride + f, from_stride, to + f * kPanelRows + r, kPanelRows);
    }
  }
  if (f == features) return;
  for (std::size_t r = 0; r < kPanelRows; r += 4) {
    Transpose4(from + r * from_stride + f, from_stride, to + f * kPanelRows + r, kPanelRows);
  }
}

/// to[row][feature] of 16 rows from a panel; `features` is a multiple of 4.
inline void PanelToRows(const float* from, std::size_t features, float* to, std::size_t to_stride) {
  std::size_t f = 0;
  for (; f + 8 <= features; f += 8) {
    for (std::size_t r = 0; r < kPanelRows; r += 8) {
      Transpose8(from + f * kPanelRows + r, kPanelRows, to + r * to_stride + f, to_stride);
    }
  }
  if (f == features) return;
  for (std::size_t r = 0; r < kPanelRows; r += 4) {
    Transpose4(from + f * kPanelRows + r, kPanelRows, to + r * to_stride + f, to_stride);
  }
}

/// to[row][feature] of 16 x 16 from `features` features of a panel. Reads and writes up to three
/// features more; the others are left as they are.
inline void TransposeTile(const float* panel, std::size_t features, float* to) {
  PanelToRows(panel, (features + 3) / 4 * 4, to, kPanelRows);
}

inline void ToPanels(const float* rows_major, std::size_t rows, const Panels& out) {
  const std::size_t cols = out.width;
  for (std::size_t r0 = 0; r0 < rows; r0 += kPanelRows) {
    const std::size_t left = rows - r0 < kPanelRows ? rows - r0 : kPanelRows;
    const float* from = rows_major + r0 * cols;
    float* to = out.At(r0 / kPanelRows);
    std::size_t c = left == kPanelRows ? cols / 4 * 4 : 0;
    RowsToPanel(from, cols, c, to);
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
    PanelToRows(from, c, to, cols);
    for (; c < cols; ++c) {
      for (std::size_t r = 0; r < left; ++r) to[r * cols + c] = from[c * kPanelRows + r];
    }
  }
}

}  // namespace ringward::learn::RINGWARD_KERNELS
