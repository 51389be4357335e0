#pragma once

// toml++ as this project uses it: errors are values, and its parser is compiled once (toml.cc),
// because it takes longer than most of our files. Include this header instead of toml++'s own.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 0
// It asserts that a key follows "[" and, where none does, returns a good error right after: the
// assertion is wrong.
#define TOML_ASSERT(expression) static_assert(true)
// It also marks as unreachable what every letter outside ASCII reaches, where any path it may take
// instead gives the right answer (is_non_ascii_horizontal_whitespace, version 3.3). So the
// sanitized presets do not check unreachable.
#include <toml++/toml.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace ringward {

/// Parses a TOML document. `file` only names it in the error "FILE:LINE:COLUMN: what" (one line of
/// printable characters), which carries `code`: kInvalidInput for what people write, kCorrupt for
/// what programs wrote.
Result<toml::table> ParseToml(std::string_view text, const std::string& file, Code code);

}  // namespace ringward
