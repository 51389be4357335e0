#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace ringward::recording {

/// The name of the network file system whose statfs magic number this is; null for others.
const char* NetworkFileSystem(std::uint64_t magic);

/// kInvalidInput when `path` would lie on a network file system, where the shared memory of
/// SQLite's write-ahead log does not work and a file can be lost. Follows the folder that holds
/// `path`; what hides behind FUSE is looked up among the mounts.
Status CheckLocal(const std::string& path);

}  // namespace ringward::recording
