#include "watch/http/snapshot.h"

#include <algorithm>

namespace ringward::watch {

const char* NameOf(RankState state) {
  constexpr std::array<const char*, kRankStates> kNames = {"unseen", "living", "silent", "ended",
                                                           "lost"};
  return kNames[static_cast<std::size_t>(state)];
}

const RankMetricInfo& InfoOf(RankMetric metric) {
  static constexpr std::array<RankMetricInfo, kRankMetrics> kInfos = {
      {{"self", "seconds"},
       {"data", "seconds"},
       {"wait", "seconds"},
       {"local_loss", ""},
       {"memory", "bytes"},
       {"gpu_busy", "ratio"},
       {"gpu_memory", "bytes"},
       {"gpu_temperature", "celsius"},
       {"gpu_power", "watts"},
       {"gpu_clock", "hertz"},
       {"gpu_held_back", "ratio"},
       {"gpu_errors", ""}}};
  return kInfos[static_cast<std::size_t>(metric)];
}

std::size_t RankColumn::bytes() const {
  std::size_t floats = 0;
  for (const auto& column : values) floats += column.size();
  return sizeof(RankColumn) + floats * sizeof(float);
}

std::size_t JobSnapshot::open_incidents() const {
  std::size_t all = 0;
  for (const auto& [cause, count] : open) all += count;
  return all;
}

const JobSnapshot* Snapshot::Find(const std::string& name) const {
  const auto job = std::find_if(jobs.begin(), jobs.end(),
                                [&](const auto& each) { return each->run.name == name; });
  return job == jobs.end() ? nullptr : job->get();
}

}  // namespace ringward::watch
