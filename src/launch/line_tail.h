#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace ringward::launch {

/// The last lines of a byte stream, bounded. A carriage return starts the line anew, as on a
/// terminal, so that a progress bar counts as one line. Not thread-safe.
class LineTail {
 public:
  LineTail(std::size_t lines, std::size_t line_bytes) : lines_(lines), line_bytes_(line_bytes) {}

  void Add(std::string_view bytes) {
    for (const char c : bytes) {
      if (c == '\n') {
        EndLine();
      } else if (c == '\r') {
        returned_ = true;
      } else {
        if (returned_) current_.clear();
        returned_ = false;
        if (current_.size() < line_bytes_) current_.push_back(c);
      }
    }
  }

  /// Oldest first; an unfinished last line counts.
  std::vector<std::string> Lines() const {
    std::vector<std::string> lines(kept_.begin(), kept_.end());
    if (!current_.empty()) lines.push_back(current_);
    if (lines.size() > lines_) lines.erase(lines.begin());
    return lines;
  }

 private:
  void EndLine() {
    returned_ = false;
    kept_.push_back(current_);
    current_.clear();
    if (kept_.size() > lines_) kept_.pop_front();
  }

  std::size_t lines_;
  std::size_t line_bytes_;
  std::deque<std::string> kept_;
  std::string current_;
  bool returned_ = false;  ///< a carriage return was seen and nothing after it yet
};

}  // namespace ringward::launch
