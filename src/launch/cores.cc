#include "launch/cores.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

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

std::optional<double> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  double number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
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

/// The smallest positive quota from `path` below `mount` up to the mount itself. Inside a
/// container the path may not be visible; then its parents that are count.
double SmallestUpwards(const std::string& mount, std::string path,
                       double (*read)(const std::string&)) {
  double smallest = 0;
  while (true) {
    const double quota = read(mount + path);
    if (quota > 0 && (smallest == 0 || quota < smallest)) smallest = quota;
    if (path.empty() || path == "/") return smallest;
    path.erase(path.rfind('/'));
  }
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

bool ListContains(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == word) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

}  // namespace

double CgroupQuota(const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  double smallest = 0;
  // Lines are "hierarchy:controllers:path"; version 2 is "0::path".
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    double quota = 0;
    if (controllers.empty()) {
      quota = SmallestUpwards(root + "/sys/fs/cgroup", path, QuotaV2);
    } else if (ListContains(controllers, "cpu")) {
      quota = SmallestUpwards(root + "/sys/fs/cgroup/cpu", path, QuotaV1);
      if (quota == 0) quota = SmallestUpwards(root + "/sys/fs/cgroup/cpu,cpuacct", path, QuotaV1);
    }
    if (quota > 0 && (smallest == 0 || quota < smallest)) smallest = quota;
  }
  return smallest;
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
