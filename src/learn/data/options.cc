#include "learn/data/options.h"

#include <utility>

namespace ringward::learn {
namespace {

constexpr int kWindowMax = 100'000;

Error Bad(std::string what) { return {Code::kInvalidInput, std::move(what)}; }

}  // namespace

Status Validate(const DataOptions& options) {
  if (options.paths.empty()) return Bad("--data: at least one file is needed");
  if (options.window < 1 || options.window > kWindowMax) {
    return Bad("--window: " + std::to_string(options.window) + " is not in 1 .. " +
               std::to_string(kWindowMax));
  }
  const char d = options.delimiter;
  if (d == '"' || d == '\n' || d == '\r' || d == '.' || (d >= '0' && d <= '9')) {
    return Bad("--delimiter: a quote, a point, a digit or the end of a line cannot part fields");
  }
  for (const std::string& name : options.numeric) {
    for (const std::string& other : options.categorical) {
      if (name == other) return Bad("--numeric, --categorical: both name the column " + name);
    }
  }
  return Ok();
}

}  // namespace ringward::learn
