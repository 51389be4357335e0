#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace ringward::launch {

/// Bytes that this process and those it starts may still take: what the machine has available
/// (caches count), or what the limit of a cgroup around them leaves (v2 memory.max, v1
/// memory.limit_in_bytes), whichever is less; the largest number where nothing is known. `root` is
/// "" or a test's stand-in for the file system's root.
std::uint64_t AvailableMemory(const std::string& root = "");

/// kResource where `ranks` ranks of `bytes_each` bytes do not fit into `available`; `what` says in
/// a few words what they need it for.
Status CheckMemory(int ranks, double bytes_each, std::uint64_t available, const std::string& what);

}  // namespace ringward::launch
