#include "detect/exhaustion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "detect/rise.h"

namespace ringward::detect {
namespace {

using signal::FindingKind;
using signal::Known;

constexpr double kStoreBlockSeconds = 10.0;
constexpr double kStoreGrowthMin = 0.01;  // of what is left, over the blocks seen

struct Store {
  Known metric;
  FindingKind kind;
  double horizon_seconds;
  const char* what;
};

constexpr double kHour = 3600.0;
constexpr std::array<Store, ExhaustionDetector::kStores> kStoresKnown = {{
    {Known::kMemoryLeft, FindingKind::kMemoryRunsOut, kHour, "memory"},
    {Known::kRootFree, FindingKind::kDiskRunsOut, 6 * kHour, "space in /"},
    {Known::kSharedFree, FindingKind::kDiskRunsOut, 6 * kHour, "space in /dev/shm"},
    {Known::kTemporaryFree, FindingKind::kDiskRunsOut, 6 * kHour, "space in /tmp"},
    {Known::kWorkFree, FindingKind::kDiskRunsOut, 6 * kHour, "space where the ranks work"},
}};

/// The lowest value of the ranks; negative where none reports.
float LowestOf(const signal::Column& column, const std::vector<std::int32_t>& ranks) {
  float lowest = -1.0F;
  for (const std::int32_t rank : ranks) {
    const auto r = static_cast<std::size_t>(rank);
    if (r >= column.values.size()) continue;
    const float value = column.values[r];
    if (std::isfinite(value) && value >= 0.0F && (lowest < 0.0F || value < lowest)) lowest = value;
  }
  return lowest;
}

}  // namespace

ExhaustionDetector::ExhaustionDetector(const signal::Topology& topology,
                                       const DetectOptions& /*options*/)
    : topology_(topology), hosts_(topology.ByHost()), state_(hosts_.size()) {}

void ExhaustionDetector::Take(std::size_t host, std::size_t store, float left,
                              const signal::Frame& frame, FindingSink& sink) {
  Series& series = state_[host][store];
  if (!series.any) series.block_start = frame.received;
  series.least = series.any ? std::min(series.least, -left) : -left;
  series.any = true;
  if (signal::Seconds(frame.received - series.block_start) < kStoreBlockSeconds) return;
  series.any = false;
  series.times.push_back(signal::Seconds(frame.received));
  series.blocks.push_back(series.least);
  if (series.blocks.size() > kRiseBlocks) {
    series.times.erase(series.times.begin());
    series.blocks.erase(series.blocks.begin());
  }
  if (series.blocks.size() == kRiseBlocks) Judge(host, store, frame, sink);
}

void ExhaustionDetector::Judge(std::size_t host, std::size_t store, const signal::Frame& frame,
                               FindingSink& sink) {
  Series& series = state_[host][store];
  const Store& kind = kStoresKnown[store];
  const Rise rise = RiseOf(series.times, series.blocks);
  series.age.Update(rise, series.times.front(), series.times.back());
  const double left = -static_cast<double>(series.blocks.back());
  const double seconds = left / std::max(rise.slope, 1e-9);
  const bool falls = rise.straight && rise.growth > kStoreGrowthMin * left &&
                     seconds < kind.horizon_seconds && series.age.Reaches(seconds);
  if (!falls) {
    if (rise.rises < static_cast<int>(kRiseBlocks) / 2) sink.Close(series.told, frame.received);
    return;
  }
  if (series.told.id != 0) return;
  signal::Finding told = sink.New(kind.kind, "exhaustion", frame.step, frame.received);
  told.ranks = hosts_[host];
  told.host = topology_.place(static_cast<std::size_t>(told.ranks.front())).host;
  told.p_value = 1e-6;
  told.effect = seconds;
  told.evidence =
      fmt::format("{}: {:.3g} GiB left, {:.3g} MiB/s less, none in {:.3g} minutes", kind.what,
                  left / 1073741824.0, rise.slope / 1048576.0, seconds / 60.0);
  series.told = told;
  sink.Add(std::move(told));
}

void ExhaustionDetector::OnFrame(const signal::Frame& frame, const Surroundings& /*around*/,
                                 FindingSink& sink) {
  for (std::size_t s = 0; s < kStores; ++s) {
    const signal::Column* const column = frame.Find(kStoresKnown[s].metric);
    if (column == nullptr) continue;
    for (std::size_t h = 0; h < hosts_.size(); ++h) {
      const float left = LowestOf(*column, hosts_[h]);
      if (left >= 0.0F) Take(h, s, left, frame, sink);
    }
  }
}

void ExhaustionDetector::Finish(signal::Time now, FindingSink& sink) {
  for (Host& host : state_) {
    for (Series& series : host) sink.Close(series.told, now);
  }
}

}  // namespace ringward::detect
