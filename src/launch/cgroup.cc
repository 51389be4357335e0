#include "launch/cgroup.h"

#include <algorithm>
#include <fstream>

namespace ringward::launch {
namespace {

double SmallestUpwards(const std::string& mount, std::string path, CgroupReader read) {
  double smallest = 0;
  while (true) {
    const double number = read(mount + path);
    if (number > 0 && (smallest == 0 || number < smallest)) smallest = number;
    if (path.empty() || path == "/") return smallest;
    path.erase(path.rfind('/'));
  }
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

std::optional<double> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  double number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

double SmallestInCgroups(const std::string& root, std::string_view controller, CgroupReader v1,
                         CgroupReader v2) {
  std::ifstream file(root + "/proc/self/cgroup");
  const std::string mount = root + "/sys/fs/cgroup";
  double smallest = 0;
  // Lines are "hierarchy:controllers:path"; version 2 is "0::path".
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    double number = 0;
    if (controllers.empty()) {
      number = SmallestUpwards(mount, path, v2);
    } else if (ListContains(controllers, controller)) {
      number = SmallestUpwards(mount + "/" + std::string(controller), path, v1);
      // Controllers that share a hierarchy may share its name: cpu,cpuacct.
      if (number == 0) number = SmallestUpwards(mount + "/" + controllers, path, v1);
    }
    if (number > 0 && (smallest == 0 || number < smallest)) smallest = number;
  }
  return smallest;
}

}  // namespace ringward::launch
