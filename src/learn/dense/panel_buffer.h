#pragma once

#include <cstddef>
#include <vector>

#include "learn/dense/kernels.h"

namespace ringward::learn {

/// Floats between two panels. One cache line more than needed, so that panels of widths that are
/// powers of two do not all fall into the same sets of the level-1 cache.
inline std::size_t PanelStride(std::size_t width) { return (width + 1) * kPanelRows; }

/// Number of panels that hold `rows` rows.
inline std::size_t PanelCount(std::size_t rows) { return (rows + kPanelRows - 1) / kPanelRows; }

/// Memory for `panels` panels of one width where there is no plan; zero at first.
class PanelBuffer {
 public:
  PanelBuffer(std::size_t panels, std::size_t width)
      : lines_(panels * PanelStride(width) / kPanelRows + kSlackLines), width_(width) {}

  Panels view() { return {lines_.front().rows, PanelStride(width_), width_}; }

 private:
  struct alignas(64) Line {
    float rows[kPanelRows] = {};
  };
  static constexpr std::size_t kSlackLines = 4;  ///< into which vectors may reach
  std::vector<Line> lines_;
  std::size_t width_;
};

}  // namespace ringward::learn
