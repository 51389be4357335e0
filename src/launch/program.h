#pragma once

#include <string>

namespace ringward::launch {

/// Whether the file at `path` is a program (ELF) that is linked with libmpi itself. False for
/// scripts, whatever they load, and for what cannot be read.
bool LinksMpi(const std::string& path);

}  // namespace ringward::launch
