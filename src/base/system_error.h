#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace ringward {

/// What the system calls error number `error`, in English. Thread-safe, unlike strerror().
std::string SystemMessage(int error);

/// kResource: "WHAT: MESSAGE".
Error SystemError(std::string_view what, int error);

/// "PATH: cannot DOING: MESSAGE"; kInvalidInput where the path is at fault (it does not exist, or
/// names the wrong kind of file), else kResource.
Error PathError(std::string_view path, std::string_view doing, int error);

}  // namespace ringward
