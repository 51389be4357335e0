#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "signal/cause.h"
#include "signal/metric.h"
#include "signal/severity.h"
#include "signal/time.h"

namespace ringward::signal {

/// What a detector can see. What it means is for diagnose to say.
enum class FindingKind : std::uint8_t {
  kRankSlow,          ///< one rank's self time has shifted up against its own past and the others
  kRankTail,          ///< one rank is slow now and then: its tail has moved, not its median
  kStageSlow,         ///< all ranks of one pipeline stage have shifted together
  kAllSlow,           ///< all ranks have shifted together
  kWaitSlow,          ///< the transfer itself has grown: even the last to arrive waits longer
  kUnevenWork,        ///< the ranks' times have moved apart, now this rank and now that
  kRankStalled,       ///< one rank spent far longer than ever outside the collective, others inside
  kRankSilent,        ///< nothing is heard of a rank while others wait
  kRankEnded,         ///< a rank's process is gone and the job is not
  kSourceLost,        ///< blind: reports stopped, the rank may be well
  kNonFinite,         ///< a local number is NaN or infinite
  kLossSpike,         ///< the loss of all ranks jumped and came back
  kLossDiverging,     ///< the loss of all ranks rises and stays up
  kGradientExplodes,  ///< gradient norms far above their past
  kGradientVanishes,
  kRankApart,       ///< one rank's numbers differ from the others': skewed data, silent corruption
  kReplicasDiffer,  ///< parameters are not equal on all replicas
  kMemoryTrend,     ///< memory grows towards its limit
  kRetransmits,     ///< a host sends again far more than before
  kClockSkew,       ///< a host's wall clock has moved
  kRankStarved,     ///< one rank is slow as kRankSlow, for the time in which it had no core
  kHostBusy,        ///< all ranks of a host are short of cores
  kHostSwaps,       ///< a host moves memory to and from its disk
  kMemoryRunsOut,   ///< memory left on a host falls towards none
  kDiskRunsOut,     ///< space left on a disk does
  kAllWait,         ///< every rank is inside a collective, and none comes out
  kRankThrottled,   ///< one rank is slow as kRankSlow, while its GPU's clock is held back
  kGpuErrors,       ///< a rank's GPU counts memory errors beyond repair
  kThreshold,       ///< a number lies beyond a limit that the user has set
  kUnusual,         ///< a learned model has not seen such numbers together in healthy steps
  kBlind,           ///< the agent of a host is silent: nothing is known of its ranks
  kHostLost,        ///< and the others wait for those ranks
  kRankError,       ///< a rank's log holds an error that ends it
};
inline constexpr std::size_t kFindingKinds = 33;

/// "rank-slow", ….
const char* NameOf(FindingKind kind);

/// Something a detector is sure enough of: it happens by chance in a healthy job no more often than
/// its share of the false-alarm budget allows.
struct Finding {
  std::uint64_t id = 0;  ///< of one stretch of trouble: later findings of the same carry the same
  FindingKind kind = FindingKind::kRankSlow;
  const char* detector = "";        ///< its name in the table of detectors
  std::vector<std::int32_t> ranks;  ///< concerned, ascending; empty: all, or none in particular
  std::string host;
  std::int32_t stage = -1;
  Phase phase = Phase::kOther;  ///< where the time went
  std::int64_t step = 0;        ///< when it was found
  std::int64_t since_step = 0;  ///< when it probably began
  Time at{};
  double p_value = 1.0;  ///< chance of a score like this in one day of a healthy job of this size
  double effect = 0.0;   ///< size; share of the step's time, or a ratio: the detector's page says
  double elapsed_seconds = 0.0;  ///< that the stretch has lasted so far, in time of steps
  double lost_seconds = 0.0;     ///< that the job lost to it so far
  bool over = false;             ///< the stretch has ended
  std::string evidence;          ///< one sentence with numbers
  Evidence place;                ///< the line of a log that says it; not in recordings
  // Of kThreshold only, and the category of kRankError, as the user's rule says; not in recordings.
  std::string rule;  ///< its name
  Severity severity = Severity::kWarning;
  Category category = Category::kResourceContention;
};

}  // namespace ringward::signal
