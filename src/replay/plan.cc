#include "replay/plan.h"

#include <algorithm>
#include <cmath>

#include "replay/noise.h"

namespace ringward::replay {
namespace {

std::vector<std::int32_t> RanksOfHost(const JobOptions& options, std::int32_t host) {
  std::vector<std::int32_t> ranks;
  const std::int32_t first = host * options.ranks_per_host;
  const std::int32_t last = std::min(options.world, first + options.ranks_per_host);
  for (std::int32_t rank = first; rank < last; ++rank) ranks.push_back(rank);
  return ranks;
}

}  // namespace

Fault DrawFault(FaultKind kind, const JobOptions& options, std::uint64_t random_seed) {
  FastRandom random(random_seed);
  Fault fault;
  fault.kind = kind;
  const auto steps = static_cast<double>(options.steps);
  fault.onset = static_cast<std::int64_t>(random.Between(0.2, 0.6) * steps);
  fault.length =
      std::max<std::int64_t>(3, static_cast<std::int64_t>(random.Between(0.2, 0.4) * steps));
  fault.severity = 0.1 * std::exp(random.Uniform() * std::log(30.0));
  const auto rank =
      static_cast<std::int32_t>(random.Below(static_cast<std::uint64_t>(options.world)));
  const std::int32_t host = rank / options.ranks_per_host;
  const bool whole_host = random.Uniform() < 0.25;
  switch (kind) {
    case FaultKind::kSlowRank:
    case FaultKind::kIntermittent:
      fault.ranks = whole_host ? RanksOfHost(options, host) : std::vector{rank};
      if (whole_host) fault.hosts = {"node" + std::to_string(host)};
      break;
    case FaultKind::kSlowLink:
    case FaultKind::kClockSkew:
    case FaultKind::kLostReports:
      fault.ranks = RanksOfHost(options, host);
      fault.hosts = {"node" + std::to_string(host)};
      break;
    case FaultKind::kSlowInput:
    case FaultKind::kNan:
    case FaultKind::kLeak:
    case FaultKind::kKill:
    case FaultKind::kOddRows:
      fault.ranks = {rank};
      break;
    case FaultKind::kFreeze:
      fault.ranks = {rank};
      fault.length = UsualLength(kind, options);
      break;
    case FaultKind::kUnevenPartition:
      fault.stage =
          static_cast<std::int32_t>(random.Below(static_cast<std::uint64_t>(options.stages)));
      break;
    case FaultKind::kSpike:
      fault.length = UsualLength(kind, options);
      break;
    case FaultKind::kSlowNetwork:
    case FaultKind::kUnevenData:
      break;
  }
  return fault;
}

std::int64_t UsualLength(FaultKind kind, const JobOptions& options) {
  constexpr double kFreezeSeconds = 30.0;
  if (kind == FaultKind::kSpike) return kSpikeSteps;
  if (kind == FaultKind::kFreeze)
    return std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::ceil(kFreezeSeconds / options.step_seconds)));
  return options.steps;
}

}  // namespace ringward::replay
