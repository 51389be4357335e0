#include "ringward/cli/json.h"

#include <nlohmann/json.hpp>

namespace ringward::cli {

std::string DumpJson(const Json& document) {
  return document.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

std::string DumpJsonLine(const Json& document) {
  return document.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace ringward::cli
