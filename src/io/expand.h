#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace ringward::io {

/// Turns the paths of a command line into files: "-" and existing names stay as they are, patterns
/// (`*`, `?`, `[...]`) become their matches sorted by name; the order of the arguments is kept.
/// A pattern or name that matches nothing, or a folder, is kInvalidInput naming it.
Result<std::vector<std::string>> ExpandInputs(std::span<const std::string> paths);

/// kInvalidInput when `out` is, by whatever name, one of the files that ExpandInputs(paths) gives:
/// writing it would replace what is read.
Status CheckNotAnInput(const std::string& out, std::span<const std::string> paths);

}  // namespace ringward::io
