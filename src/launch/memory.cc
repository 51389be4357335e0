#include "launch/memory.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>

#include "launch/cgroup.h"

namespace ringward::launch {
namespace {

/// The number behind `name` in a file of names and numbers; 0 where there is none.
double NumberOf(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  std::string word;
  double number = 0;
  for (std::string rest; file >> word >> number; std::getline(file, rest)) {
    if (word == name) return number;
  }
  return 0;
}

/// What is left below a limit; file pages that were not used lately can be taken back. At least a
/// byte where there is a limit.
double Left(std::optional<double> limit, std::optional<double> used, double reclaimable) {
  if (!limit || !used) return 0;
  return std::max(1.0, *limit - std::max(0.0, *used - reclaimable));
}

double LeftV2(const std::string& folder) {
  return Left(ReadNumber(folder + "/memory.max"), ReadNumber(folder + "/memory.current"),
              NumberOf(folder + "/memory.stat", "inactive_file"));
}

double LeftV1(const std::string& folder) {
  return Left(ReadNumber(folder + "/memory.limit_in_bytes"),
              ReadNumber(folder + "/memory.usage_in_bytes"),
              NumberOf(folder + "/memory.stat", "total_inactive_file"));
}

std::string GiB(double bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g GiB", bytes / (1U << 30U));
  return text.data();
}

}  // namespace

std::uint64_t AvailableMemory(const std::string& root) {
  double available = 1024.0 * NumberOf(root + "/proc/meminfo", "MemAvailable:");
  const double left = SmallestInCgroups(root, "memory", LeftV1, LeftV2);
  if (left > 0) available = available > 0 ? std::min(available, left) : left;
  if (available <= 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(available);
}

Status CheckMemory(int ranks, double bytes_each, std::uint64_t available, const std::string& what) {
  const double needed = bytes_each * ranks;
  const auto there = static_cast<double>(available);
  if (needed <= there) return Ok();
  const std::string who = ranks == 1 ? "1 rank needs" : std::to_string(ranks) + " ranks need";
  return Error(Code::kResource, who + " " + GiB(needed) + " of memory for " + what + ", " +
                                    GiB(there) + " are available");
}

}  // namespace ringward::launch
