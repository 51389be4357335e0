#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "learn/data/matrix.h"

namespace ringward::learn {

/// Rows [rows, width] seen as inputs [rows, window * width], without W copies: input i is made of
/// rows i-W+1 .. i, oldest first. Windows never reach across the start of a file: there the file's
/// first row is repeated, so that every row has an input.
class WindowedRows {
 public:
  WindowedRows() = default;
  /// `file_start` is, per row, the index of the first row of its file (<= the row, not decreasing).
  /// With window 1 it may be empty. REQUIRES: window >= 1.
  WindowedRows(Matrix rows, int window, std::vector<std::size_t> file_start);

  std::size_t rows() const { return rows_.rows; }
  std::size_t inputs() const { return rows_.cols * window_; }
  int window() const { return static_cast<int>(window_); }
  const Matrix& base() const { return rows_; }
  /// Per row, the first row of its file; empty where the window is 1 and none was given.
  const std::vector<std::size_t>& file_starts() const { return file_start_; }
  /// Writes input `row` into `out`. REQUIRES: row < rows(), out.size() == inputs().
  void CopyRow(std::size_t row, std::span<float> out) const;
  /// Index of the first row that input `row` is made of.
  std::size_t FirstRowOf(std::size_t row) const;

 private:
  Matrix rows_;
  std::size_t window_ = 1;
  std::vector<std::size_t> file_start_;
};

/// The same for rows that arrive block by block. Keeps window-1 rows.
class WindowJoiner {
 public:
  WindowJoiner(std::size_t width, int window);
  /// Turns the next rows [rows, width] of file `file_index` into [rows, window * width].
  Matrix Join(const Matrix& rows, std::size_t file_index);

 private:
  std::size_t width_;
  std::size_t window_;
  std::size_t file_ = static_cast<std::size_t>(-1);
  std::vector<float> history_;  ///< the last window - 1 rows of the file, oldest first
};

}  // namespace ringward::learn
