#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "learn/data/block.h"
#include "learn/data/schema.h"

namespace ringward::learn {

/// A number as it is, or an ISO 8601 date and time as seconds since 1970 in UTC:
/// `2014-07-01`, `2014-07-01 00:30`, `2014-07-01T00:30:00.25Z`, `...+02:00`. Without an offset the
/// time is taken as UTC. Nothing for other texts.
std::optional<double> ParseTime(std::string_view text);

/// Refuses rows whose time goes backwards inside a file. Equal times are fine.
class TimeOrder {
 public:
  /// `column` is the time column, or null when there is none to check.
  explicit TimeOrder(const Column* column = nullptr);
  /// kInvalidInput naming file, line, column and both times.
  Status Check(const Block& block);

 private:
  std::optional<std::size_t> slot_;
  std::string name_;
  std::size_t file_ = static_cast<std::size_t>(-1);
  double last_ = 0;
  std::string last_text_;
};

}  // namespace ringward::learn
