#include "detect/memory_trend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "detect/rise.h"
#include "signal/metric.h"

namespace ringward::detect {
namespace {

using signal::IsMissing;
using signal::Known;

constexpr std::size_t kFramesOfBlock = 8;  // at least, and
constexpr double kSecondsOfBlock = 2.0;    // at least
constexpr double kHorizonSeconds = 86'400.0;
constexpr double kGrowthMin = 0.01;  // of the limit over the blocks seen

}  // namespace

MemoryTrendDetector::MemoryTrendDetector(const signal::Topology& topology,
                                         const DetectOptions& /*options*/)
    : world_(topology.world()), series_(topology.world()) {}

void MemoryTrendDetector::OnFrame(const signal::Frame& frame, const Surroundings& /*around*/,
                                  FindingSink& sink) {
  const signal::Column* const memory = frame.Find(Known::kMemory);
  const signal::Column* const limit = frame.Find(Known::kMemoryLimit);
  if (memory == nullptr) return;
  for (std::size_t r = 0; r < std::min(world_, memory->values.size()); ++r) {
    const float value = memory->values[r];
    if (!std::isfinite(value)) continue;
    Series& series = series_[r];
    series.lowest = series.any ? std::min(series.lowest, value) : value;
    series.any = true;
    if (limit != nullptr && r < limit->values.size() && limit->values[r] > 0.0F) {
      series.limit = limit->values[r];
    }
  }
  if (frames_ == 0) block_start_ = frame.received;
  ++frames_;
  if (frames_ >= kFramesOfBlock &&
      signal::Seconds(frame.received - block_start_) >= kSecondsOfBlock) {
    EndBlock(frame, sink);
  }
}

void MemoryTrendDetector::EndBlock(const signal::Frame& frame, FindingSink& sink) {
  frames_ = 0;
  times_.push_back(signal::Seconds(frame.received));
  if (times_.size() > kRiseBlocks) times_.erase(times_.begin());
  for (std::size_t r = 0; r < world_; ++r) {
    Series& series = series_[r];
    // A rank that told nothing has no line: begin again.
    if (!series.any) series.blocks.clear();
    if (series.any) series.blocks.push_back(series.lowest);
    if (series.blocks.size() > kRiseBlocks) series.blocks.erase(series.blocks.begin());
    series.any = false;
    if (series.blocks.size() == kRiseBlocks) Judge(r, frame, sink);
  }
}

void MemoryTrendDetector::Judge(std::size_t rank, const signal::Frame& frame, FindingSink& sink) {
  Series& series = series_[rank];
  const Rise rise = RiseOf(times_, series.blocks);
  series.age.Update(rise, times_.front(), times_.back());
  const auto limit = static_cast<double>(series.limit);
  const double left =
      (limit - static_cast<double>(series.blocks.back())) / std::max(rise.slope, 1e-9);
  const bool grows = limit > 0.0 && rise.straight && rise.growth > kGrowthMin * limit &&
                     left < kHorizonSeconds && series.age.Reaches(left);
  signal::Finding& told = series.told;
  if (!grows) {
    if (told.id != 0 && rise.rises < static_cast<int>(kRiseBlocks) / 2) {
      sink.Close(told, frame.received);
    }
    return;
  }
  if (told.id != 0) return;
  told = sink.New(signal::FindingKind::kMemoryTrend, "memory-trend", frame.step, frame.received);
  told.ranks = {static_cast<std::int32_t>(rank)};
  told.p_value = 1e-6;
  told.effect = left;
  told.evidence = fmt::format(
      "memory of rank {} grows by {:.3g} MiB/s and reaches its limit of {:.3g} GiB in {:.3g} "
      "minutes",
      rank, rise.slope / 1048576.0, limit / 1073741824.0, left / 60.0);
  sink.Add(told);
}

void MemoryTrendDetector::Finish(signal::Time now, FindingSink& sink) {
  for (Series& series : series_) {
    sink.Close(series.told, now);
  }
}

}  // namespace ringward::detect
