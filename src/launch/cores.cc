#include "launch/cores.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "launch/cgroup.h"

namespace ringward::launch {
namespace {

constexpr int kMaxProcessors = 8192;

int AffinityCount() {
  // A fixed cpu_set_t holds 1024 processors; larger machines need a larger one.
  cpu_set_t* const set = CPU_ALLOC(kMaxProcessors);
  const std::size_t bytes = CPU_ALLOC_SIZE(kMaxProcessors);
  const int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 1;
  CPU_FREE(set);
  return std::max(count, 1);
}

/// "max 100000" or "250000 100000".
double QuotaV2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
  std::istringstream number(quota);
  double micros = 0;
  return number >> micros ? micros / period : 0;
}

double QuotaV1(const std::string& folder) {
  const auto quota = ReadNumber(folder + "/cpu.cfs_quota_us");
  const auto period = ReadNumber(folder + "/cpu.cfs_period_us");
  return quota && period && *quota > 0 && *period > 0 ? *quota / *period : 0;
}

struct Load {
  int online = 0;
  int running = 0;  ///< tasks on a processor or waiting for one, this one among them
};

Load ReadLoad(const std::string& root) {
  std::ifstream file(root + "/proc/stat");
  Load load;
  for (std::string line; std::getline(file, line);) {
    // "cpu0 ...", "cpu1 ..."; the line of their sum is "cpu ...".
    if (line.starts_with("cpu") && !line.starts_with("cpu ")) ++load.online;
    std::istringstream words(line);
    std::string name;
    if (line.starts_with("procs_running ")) words >> name >> load.running;
  }
  return load;
}

void LookAtLoad(const std::string& root, Cores& cores) {
  constexpr std::size_t kLooks = 5;
  std::array<int, kLooks> running{};
  for (std::size_t i = 0; i < kLooks; ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(4));
    const Load load = ReadLoad(root);
    cores.online = load.online;
    running[i] = load.running;
  }
  std::nth_element(running.begin(), running.begin() + kLooks / 2, running.end());
  cores.busy = std::max(0, running[kLooks / 2] - 1);
}

}  // namespace

double CgroupQuota(const std::string& root) {
  return SmallestInCgroups(root, "cpu", QuotaV1, QuotaV2);
}

Cores UsableCores(const std::string& root) {
  Cores cores;
  cores.affinity = AffinityCount();
  cores.quota = CgroupQuota(root);
  cores.usable = cores.affinity;
  if (cores.quota > 0) cores.usable = std::min(cores.usable, static_cast<int>(cores.quota));
  cores.usable = std::max(cores.usable, 1);
  LookAtLoad(root, cores);
  return cores;
}

std::string Cores::Describe() const {
  std::string text = std::to_string(usable) + (usable == 1 ? " usable core" : " usable cores");
  if (quota <= 0 || quota >= affinity) return text;
  char number[32];
  std::snprintf(number, sizeof(number), "%.3g", quota);
  return text + " (of " + std::to_string(affinity) + " allowed; the cgroup grants " + number + ")";
}

}  // namespace ringward::launch
