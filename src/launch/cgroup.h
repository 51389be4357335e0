#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ringward::launch {

/// The number that a file begins with; nothing where there is no such file, or no number.
std::optional<double> ReadNumber(const std::string& path);

/// Reads a number from the files of one cgroup's folder; 0 = it sets none.
using CgroupReader = double (*)(const std::string& folder);

/// The smallest positive number that the cgroups around this process set, from its own up to the
/// root, of version 1 (those of `controller`) and 2; 0 = none does. Inside a container the own one
/// may not be visible; then its parents that are count. `root` is "" or a test's stand-in for the
/// file system's root.
double SmallestInCgroups(const std::string& root, std::string_view controller, CgroupReader v1,
                         CgroupReader v2);

}  // namespace ringward::launch
