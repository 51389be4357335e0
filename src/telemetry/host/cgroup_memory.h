#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "telemetry/host/host_files.h"
#include "telemetry/host/kept_file.h"

namespace ringward::telemetry {

/// The memory limits that the control groups above a process set, version 1 or 2. Not safe for
/// concurrent use.
class CgroupMemory {
 public:
  CgroupMemory() = default;
  /// `folder` is "/sys/fs/cgroup", or a test's stand-in.
  CgroupMemory(const std::string& folder, const CgroupPaths& paths);
  /// Bytes until the first of the limits is reached; what the kernel would give back before it
  /// kills (files read once) counts as free. Nothing where there is no limit.
  std::optional<std::uint64_t> Left(std::vector<char>& buffer) const;

 private:
  struct Level {
    KeptFile limit;
    KeptFile usage;
    KeptFile stat;
  };
  std::vector<Level> levels_;
  const char* inactive_ = "";
};

}  // namespace ringward::telemetry
