#define TOML_IMPLEMENTATION
#include "base/toml.h"

#include <fmt/format.h>

#include <utility>

#include "base/text_value.h"

namespace ringward {

Result<toml::table> ParseToml(std::string_view text, const std::string& file, Code code) {
  toml::parse_result parsed = toml::parse(text);
  if (parsed) return std::move(parsed).table();
  const toml::source_position where = parsed.error().source().begin;
  return Error(code, fmt::format("{}:{}:{}: {}", file, where.line, where.column,
                                 Printable(parsed.error().description(), 200)));
}

}  // namespace ringward
