#include "telemetry/host/cgroup_memory.h"

#include <algorithm>
#include <utility>

namespace ringward::telemetry {
namespace {

constexpr std::size_t kLevelsMost = 16;
// Version 1 says "no limit" as the largest number of whole pages.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;

}  // namespace

CgroupMemory::CgroupMemory(const std::string& folder, const CgroupPaths& paths) {
  const bool v1 = !paths.memory_v1.empty();
  if (!v1 && paths.unified.empty()) return;
  inactive_ = v1 ? "total_inactive_file" : "inactive_file";
  const std::string mount = folder + (v1 ? "/memory" : "");
  std::string path = v1 ? paths.memory_v1 : paths.unified;
  while (levels_.size() < kLevelsMost) {
    while (path.ends_with('/')) path.pop_back();
    const std::string at = mount + path;
    // A container sees its own group as the root, though the path may be that of its host.
    Level level{KeptFile(at + (v1 ? "/memory.limit_in_bytes" : "/memory.max")),
                KeptFile(at + (v1 ? "/memory.usage_in_bytes" : "/memory.current")),
                KeptFile(at + "/memory.stat")};
    if (level.limit && level.usage) levels_.push_back(std::move(level));
    if (path.empty()) break;
    path.resize(std::min(path.rfind('/'), path.size()));
  }
}

std::optional<std::uint64_t> CgroupMemory::Left(std::vector<char>& buffer) const {
  std::optional<std::uint64_t> least;
  const auto number = [&](const KeptFile& file) {
    const auto text = file.Read(buffer);
    return text ? LeadingNumber(*text) : std::nullopt;
  };
  for (const Level& level : levels_) {
    const auto limit = number(level.limit);
    if (!limit || *limit >= kNoLimit) continue;
    const auto usage = number(level.usage);
    if (!usage) continue;
    const auto stat = level.stat.Read(buffer);
    const std::uint64_t given_back = stat ? NumberOf(*stat, inactive_).value_or(0) : 0;
    const std::uint64_t held = *usage - std::min(*usage, given_back);
    const std::uint64_t left = *limit - std::min(*limit, held);
    least = std::min(least.value_or(left), left);
  }
  return least;
}

}  // namespace ringward::telemetry
