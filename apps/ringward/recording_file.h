#pragma once

#include <string>

#include "base/result.h"

namespace ringward::cli {

/// Whether the file is an SQLite file, as all recordings are. False for `-`: what is read from a
/// pipe is gone, and SQLite needs a file. Errors: those of opening it.
Result<bool> IsRecording(const std::string& path);

}  // namespace ringward::cli
