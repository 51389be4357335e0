#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ringward::cli {

/// JSON whose members keep the order in which they were added. Sources that build one include
/// <nlohmann/json.hpp>; headers do not, because it is slow to compile.
using Json = nlohmann::ordered_json;

/// Indented by two blanks. Doubles are read back to the same double; NaN and infinities become
/// null; bytes that are no UTF-8 become U+FFFD.
std::string DumpJson(const Json& document);

/// The same on one line, for JSONL.
std::string DumpJsonLine(const Json& document);

}  // namespace ringward::cli
