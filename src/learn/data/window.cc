#include "learn/data/window.h"

#include <algorithm>
#include <utility>

namespace ringward::learn {

WindowedRows::WindowedRows(Matrix rows, int window, std::vector<std::size_t> file_start)
    : rows_(std::move(rows)),
      window_(static_cast<std::size_t>(window)),
      file_start_(std::move(file_start)) {
  RINGWARD_CHECK(window >= 1);
  RINGWARD_CHECK(window == 1 || file_start_.size() == rows_.rows);
}

std::size_t WindowedRows::FirstRowOf(std::size_t row) const {
  RINGWARD_CHECK(row < rows_.rows);
  if (window_ == 1) return row;
  return row - std::min(row - file_start_[row], window_ - 1);
}

void WindowedRows::CopyRow(std::size_t row, std::span<float> out) const {
  RINGWARD_CHECK(out.size() == inputs());
  const std::size_t first = FirstRowOf(row);
  const std::size_t width = rows_.cols;
  const std::size_t repeats = window_ - (row - first + 1);
  const auto begin = rows_.values.begin() + static_cast<std::ptrdiff_t>(first * width);
  auto to = out.begin();
  for (std::size_t i = 0; i < repeats; ++i) {
    to = std::copy_n(begin, width, to);
  }
  std::copy_n(begin, (row - first + 1) * width, to);
}

WindowJoiner::WindowJoiner(std::size_t width, int window)
    : width_(width), window_(static_cast<std::size_t>(window)) {
  RINGWARD_CHECK(window >= 1);
}

Matrix WindowJoiner::Join(const Matrix& rows, std::size_t file_index) {
  RINGWARD_CHECK(rows.cols == width_);
  if (window_ == 1 || rows.rows == 0) return rows;
  if (file_index != file_) {
    file_ = file_index;
    history_.clear();
    for (std::size_t i = 0; i + 1 < window_; ++i) {
      history_.insert(history_.end(), rows.values.begin(),
                      rows.values.begin() + static_cast<std::ptrdiff_t>(width_));
    }
  }
  std::vector<float> all = std::move(history_);  // window - 1 + rows.rows rows
  all.insert(all.end(), rows.values.begin(), rows.values.end());
  Matrix joined(rows.rows, window_ * width_);
  for (std::size_t r = 0; r < rows.rows; ++r) {
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(r * width_), joined.cols,
                joined.values.begin() + static_cast<std::ptrdiff_t>(r * joined.cols));
  }
  history_.assign(all.end() - static_cast<std::ptrdiff_t>((window_ - 1) * width_), all.end());
  return joined;
}

}  // namespace ringward::learn
