#pragma once

#include <string>

namespace ringward::launch {

/// What this process may use of the machine's processors, and what limits it.
struct Cores {
  int usable = 1;      ///< min(affinity, quota rounded down), at least 1
  int affinity = 1;    ///< processors in sched_getaffinity()
  double quota = 0.0;  ///< cgroup CPU quota in processors; 0 = none
  int online = 0;      ///< processors of the machine; 0 = not known
  int busy = 0;        ///< other tasks of the machine that want to run just now
  /// Whether `ranks` ranks find a processor each that nobody else wants.
  bool Fit(int ranks) const { return ranks <= usable && (online == 0 || ranks + busy <= online); }
  std::string Describe() const;  ///< e.g. "2 usable cores (of 8 allowed; the cgroup grants 2.5)"
};

/// Reads affinity and the CPU quotas of every cgroup (v2 cpu.max, v1 cpu.cfs_quota_us) from this
/// process's own up to the root. The processor count of the machine says nothing about what a
/// container may use; it is only compared with how many tasks want to run (median of five looks
/// within 20 ms). `root` is "" or a test's stand-in for the file system's root.
Cores UsableCores(const std::string& root = "");

/// The CPU quota alone, in processors; 0 = none. For tests and UsableCores.
double CgroupQuota(const std::string& root);

}  // namespace ringward::launch
