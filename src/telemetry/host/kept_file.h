#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace ringward::telemetry {

/// A small file of the kernel's that is read again and again from its beginning; opened once, so
/// that a process id that is used anew is not taken for the old one. Not safe for concurrent use.
class KeptFile {
 public:
  KeptFile() = default;
  /// None where the file cannot be opened.
  explicit KeptFile(const std::string& path);
  explicit operator bool() const { return static_cast<bool>(fd_); }
  /// What the file holds now, at most as much as `buffer` does; valid until that is written again.
  /// Nothing where it cannot be read (any more).
  std::optional<std::string_view> Read(std::vector<char>& buffer) const;

 private:
  Fd fd_;
};

}  // namespace ringward::telemetry
