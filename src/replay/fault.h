#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ringward::replay {

/// What can be planted in a simulated job.
enum class FaultKind : std::uint8_t {
  kSlowRank,         ///< one machine (a rank, or all ranks of a host) computes more slowly
  kIntermittent,     ///< the same, in some steps only
  kSlowLink,         ///< the link of one host: the transfer is slower, that host sends again
  kSlowNetwork,      ///< the transfer is slower for all
  kSlowInput,        ///< one rank waits for its input
  kUnevenData,       ///< the work of a step varies from rank to rank, never the same ranks
  kUnevenPartition,  ///< one pipeline stage has more work
  kFreeze,           ///< a process is stopped
  kKill,             ///< a process is killed; the job ends
  kNan,              ///< one rank's loss is NaN, and everybody's from the next step on
  kSpike,            ///< the loss of all ranks jumps for a few steps
  kLeak,             ///< one rank's memory grows to its limit
  kClockSkew,        ///< one host's clock jumps
  kLostReports,      ///< one host's reports are missing, the job goes on
  kOddRows,          ///< one rank's rows are of another kind: loss and gradient norm part
};
inline constexpr std::size_t kFaultKinds = 15;

/// "slow-rank", ….
const char* NameOf(FaultKind kind);
Result<FaultKind> ParseFaultKind(std::string_view name);

/// Of a spike of the loss; one that lasts longer is a loss that stays up.
inline constexpr std::int64_t kSpikeSteps = 3;

/// One planted fault.
struct Fault {
  FaultKind kind = FaultKind::kSlowRank;
  std::int64_t onset = 0;   ///< first step
  std::int64_t length = 0;  ///< steps; > 0
  double severity = 0.5;    ///< share by which the affected time (or loss) grows, 0.1 = 10 %
  std::vector<std::int32_t> ranks;  ///< at fault, ascending
  std::vector<std::string> hosts;   ///< at fault
  std::int32_t stage = -1;          ///< for kUnevenPartition

  std::int64_t end() const { return onset + length; }
  bool ActiveAt(std::int64_t step) const { return step >= onset && step < end(); }
};

}  // namespace ringward::replay
