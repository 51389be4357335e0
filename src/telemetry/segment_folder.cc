#include "telemetry/segment_folder.h"

#include <dirent.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "telemetry/guest/leftovers.h"

namespace ringward::telemetry {

std::vector<SegmentEntry> ListSegments(const std::string& folder) {
  std::vector<SegmentEntry> found;
  const auto close = [](DIR* open) { closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> entries(opendir(folder.c_str()), close);
  if (entries == nullptr) return found;
  while (const dirent* const entry = readdir(entries.get())) {
    SegmentName name{};
    if (!ParseSegmentName(entry->d_name, name)) continue;
    found.push_back({folder + "/" + entry->d_name, name.job, name.rank, name.pid, name.start_time});
  }
  std::sort(found.begin(), found.end(), [](const SegmentEntry& a, const SegmentEntry& b) {
    return std::tie(a.job, a.rank, a.pid, a.start_time) <
           std::tie(b.job, b.rank, b.pid, b.start_time);
  });
  return found;
}

int RemoveDeadSegments(const std::string& folder) {
  return RemoveLeftovers(folder.c_str(), nullptr);
}

}  // namespace ringward::telemetry
