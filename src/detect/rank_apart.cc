#include "detect/rank_apart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "signal/metric.h"

namespace ringward::detect {
namespace {

using signal::FindingKind;
using signal::IsMissing;
using signal::kMissing;
using signal::Known;

constexpr float kApart = 0.47F;  // of a logarithm: 1.6 times the others
constexpr float kSteadyTimes =
    6.0F;  // what the others differ by, for a steady difference to be told
constexpr float kSteadyFloor = 0.02F;
constexpr std::size_t kSteadyRanks = 4;  // at least: three that agree
constexpr double kApartEnd = 0.15;  // mean residual below which a rank is back among the others
constexpr double kApartRate = 1.0 / 16.0;

RankShift::Options ApartOptions() {
  RankShift::Options options;
  options.shift = kApart;
  options.scale_min = 0.02F;
  return options;
}

}  // namespace

RankApartDetector::RankApartDetector(const signal::Topology& topology,
                                     const DetectOptions& /*options*/)
    : world_(topology.world()), x_(world_) {
  for (const auto& [metric, name] : {std::pair{Known::kLoss, "local loss"},
                                     std::pair{Known::kGradientNorm, "local gradient norm"}}) {
    for (const float sign : {1.0F, -1.0F}) {
      sides_.push_back({metric,
                        name,
                        sign,
                        RankShift(world_, topology.ByStage(), ApartOptions()),
                        std::vector<double>(world_, 0.0),
                        std::vector<double>(world_, 0.0),
                        {}});
    }
  }
}

void RankApartDetector::Judge(Side& side, std::size_t rank, const signal::Frame& frame,
                              double level, double alarms_per_day, FindingSink& sink) {
  const float residual = side.shift.residual()[rank];
  if (IsMissing(residual)) return;
  if (const auto open = side.told.find(rank); open != side.told.end()) {
    const double distance = static_cast<double>(residual) + side.steady[rank];
    side.sum[rank] += kApartRate * (distance - side.sum[rank]);
    if (side.sum[rank] > kApartEnd) return;
    sink.Close(open->second, frame.received);
    side.told.erase(open);
    side.shift.SetTrouble(rank, false);
    side.shift.Restart(rank);
  }
  if (side.shift.cusum(rank) == 0.0F) {
    side.sum[rank] = side.count[rank] = 0.0;
    return;
  }
  side.sum[rank] += static_cast<double>(residual);
  side.count[rank] += 1.0;
  const double mean = side.sum[rank] / side.count[rank];
  if (static_cast<double>(side.shift.cusum(rank)) <= level || mean < static_cast<double>(kApart))
    return;
  signal::Finding& told = side.told[rank];
  told = sink.New(FindingKind::kRankApart, "rank-apart", frame.step, frame.received);
  told.ranks = {static_cast<std::int32_t>(rank)};
  told.since_step = frame.step - static_cast<std::int64_t>(side.count[rank] - 1.0) * frame.steps;
  told.p_value = alarms_per_day;
  told.effect = std::exp(static_cast<double>(side.sign) * mean);
  told.evidence = fmt::format(
      "the {} of rank {} is {:.3g} times what it was against the other ranks, since step {}",
      side.name, rank, told.effect, told.since_step);
  side.sum[rank] = mean;
  side.shift.SetTrouble(rank, true);
  sink.Add(told);
}

/// Skewed from the first step on: seen when the baselines are learned, once.
void RankApartDetector::FindSteady(Side& side, const signal::Frame& frame, FindingSink& sink) {
  side.looked = true;
  if (world_ < kSteadyRanks) return;
  std::vector<float> sorted;
  std::size_t furthest = 0;
  for (std::size_t r = 0; r < world_; ++r) {
    sorted.push_back(side.shift.baseline(r));
    if (side.shift.baseline(r) > side.shift.baseline(furthest)) furthest = r;
  }
  std::sort(sorted.begin(), sorted.end());
  const float middle = sorted[(world_ - 1) / 2];
  // Of the others: the second largest and the smallest.
  const float spread = std::max(sorted[world_ - 2] - middle, middle - sorted.front());
  const float distance = sorted.back() - middle;
  if (distance < std::max(kApart, kSteadyTimes * (spread + kSteadyFloor))) return;
  signal::Finding& told = side.told[furthest];
  told = sink.New(FindingKind::kRankApart, "rank-apart", frame.step, frame.received);
  told.ranks = {static_cast<std::int32_t>(furthest)};
  told.effect = std::exp(static_cast<double>(side.sign * distance));
  told.evidence =
      fmt::format("the {} of rank {} is {:.3g} times the other ranks' from the beginning",
                  side.name, furthest, told.effect);
  side.sum[furthest] = side.steady[furthest] = static_cast<double>(distance);
  side.shift.SetTrouble(furthest, true);
  sink.Add(told);
}

void RankApartDetector::Observe(Side& side, const signal::Frame& frame, const Surroundings& around,
                                FindingSink& sink) {
  const signal::Column* const column = frame.Find(side.metric);
  if (column == nullptr) return;
  std::fill(x_.begin(), x_.end(), kMissing);
  const std::size_t count = std::min(world_, column->values.size());
  for (std::size_t r = 0; r < count; ++r) {
    const float value = column->values[r];
    if (std::isfinite(value) && value > 0.0F) x_[r] = side.sign * std::log(value);
  }
  if (!side.shift.Observe(x_)) return;
  if (!side.looked) FindSteady(side, frame, sink);
  const double share = around.alarms_per_day / static_cast<double>(sides_.size());
  const double level = side.shift.Level(around.frames_per_day, share);
  for (std::size_t r = 0; r < world_; ++r) Judge(side, r, frame, level, share, sink);
}

void RankApartDetector::CompareReplicas(const signal::Frame& frame, FindingSink& sink) {
  const signal::Column* const column = frame.Find(Known::kParameterHash);
  if (column == nullptr || replicas_told_.id != 0) return;
  std::map<float, std::vector<std::int32_t>> holders;
  for (std::size_t r = 0; r < std::min(world_, column->values.size()); ++r) {
    const float hash = column->values[r];
    if (std::isfinite(hash)) holders[hash].push_back(static_cast<std::int32_t>(r));
  }
  if (holders.size() < 2) return;
  const auto most = std::max_element(
      holders.begin(), holders.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  signal::Finding& told = replicas_told_;
  told = sink.New(FindingKind::kReplicasDiffer, "rank-apart", frame.step, frame.received);
  std::size_t total = 0;
  for (const auto& [hash, ranks] : holders) {
    total += ranks.size();
    if (hash != most->first) told.ranks.insert(told.ranks.end(), ranks.begin(), ranks.end());
  }
  std::sort(told.ranks.begin(), told.ranks.end());
  if (2 * most->second.size() <= total) told.ranks.clear();  // no majority: nobody is accused
  told.effect = static_cast<double>(total - most->second.size());
  told.evidence = fmt::format("the parameters of {} of {} ranks differ from the others' at step {}",
                              total - most->second.size(), total, frame.step);
  sink.Add(told);
}

void RankApartDetector::OnFrame(const signal::Frame& frame, const Surroundings& around,
                                FindingSink& sink) {
  CompareReplicas(frame, sink);
  if (world_ < 3) return;  // of two, who is apart?
  for (Side& side : sides_) Observe(side, frame, around, sink);
}

void RankApartDetector::Finish(signal::Time now, FindingSink& sink) {
  for (Side& side : sides_) {
    for (auto& [rank, told] : side.told) sink.Close(told, now);
    side.told.clear();
  }
  sink.Close(replicas_told_, now);
}

}  // namespace ringward::detect
