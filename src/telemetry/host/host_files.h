#pragma once

// What the kernel writes in /proc and /sys, as values. Pure, and whatever the text: what is torn,
// absurd or of another kernel gives nothing, never a wrong size or an exception.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringward::telemetry {

/// The number behind `key` on a line that begins with it, as in meminfo, vmstat, status, io and
/// memory.stat; a `key` without a colon must be followed by a blank.
std::optional<std::uint64_t> NumberOf(std::string_view text, std::string_view key);

/// The number that the text begins with; nothing for "max" and what else is none.
std::optional<std::uint64_t> LeadingNumber(std::string_view text);

/// A core's time since boot, clock ticks.
struct CoreTimes {
  std::uint32_t core = 0;
  std::uint64_t busy = 0;  ///< in programs, the kernel and interrupts
  std::uint64_t idle = 0;
  std::uint64_t iowait = 0;
  std::uint64_t steal = 0;  ///< it would have run, and the hypervisor ran others
};

/// Of /proc/stat, in its order; cores that are off are missing.
std::vector<CoreTimes> ParseCores(std::string_view text);

/// Of /proc/PID/stat.
struct ProcessTimes {
  std::uint64_t major_faults = 0;
  std::uint64_t cpu_ticks = 0;  ///< user and system, all threads
  std::uint32_t threads = 0;
  std::uint64_t rss_pages = 0;
  std::uint32_t core = 0;  ///< that its main thread ran on last
};
std::optional<ProcessTimes> ParseProcess(std::string_view text);

/// Of /proc/PID/task/TID/schedstat, nanoseconds.
struct ThreadTimes {
  std::uint64_t run = 0;
  std::uint64_t wait = 0;    ///< in the run queue: it could have run and had no core
  std::uint64_t slices = 0;  ///< how often it got a core
};
std::optional<ThreadTimes> ParseSchedstat(std::string_view text);

/// Time in which at least one task stood still for want of the resource, microseconds since boot;
/// of /proc/pressure/*.
std::optional<std::uint64_t> ParsePressure(std::string_view text);

/// All links but the loopback, since boot; of /proc/net/dev.
struct LinkCounts {
  std::uint64_t bytes = 0;   ///< both ways
  std::uint64_t errors = 0;  ///< and drops, both ways
};
std::optional<LinkCounts> ParseLinks(std::string_view text);

/// TCP segments sent again since boot; of /proc/net/snmp.
std::optional<std::uint64_t> ParseRetransmits(std::string_view text);

/// Where the control groups of a process are, of /proc/PID/cgroup; empty: none. "/" for paths that
/// lead out of what is seen from here.
struct CgroupPaths {
  std::string unified;    ///< version 2
  std::string memory_v1;  ///< of version 1's memory controller
};
CgroupPaths ParseCgroups(std::string_view text);

/// The kind of file system that `path` lies on, by the text of /proc/self/mountinfo; empty: not
/// known. `path` is absolute and without links.
std::string FileSystemOf(std::string_view mountinfo, std::string_view path);

}  // namespace ringward::telemetry
