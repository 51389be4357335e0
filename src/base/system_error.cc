#include "base/system_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace ringward {

std::string SystemMessage(int error) { return std::generic_category().message(error); }

Error SystemError(std::string_view what, int error) {
  return Error(Code::kResource, fmt::format("{}: {}", what, SystemMessage(error)));
}

Error PathError(std::string_view path, std::string_view doing, int error) {
  const bool wrong_path = error == ENOENT || error == ENOTDIR || error == EISDIR;
  return Error(wrong_path ? Code::kInvalidInput : Code::kResource,
               fmt::format("{}: cannot {}: {}", path, doing, SystemMessage(error)));
}

}  // namespace ringward
