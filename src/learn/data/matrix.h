#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/check.h"

namespace ringward::learn {

/// A dense row-major block of float32, shape [rows, cols]. Owns its values.
struct Matrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<float> values;  ///< rows * cols, row after row

  Matrix() = default;
  Matrix(std::size_t r, std::size_t c) : rows(r), cols(c), values(r * c) {}

  std::span<float> Row(std::size_t i) {
    RINGWARD_CHECK(i < rows);
    return std::span(values).subspan(i * cols, cols);
  }
  std::span<const float> Row(std::size_t i) const {
    RINGWARD_CHECK(i < rows);
    return std::span(values).subspan(i * cols, cols);
  }
};

}  // namespace ringward::learn
