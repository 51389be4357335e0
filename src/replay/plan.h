#pragma once

#include <cstdint>

#include "replay/fault.h"
#include "replay/simulate_job.h"

namespace ringward::replay {

/// Draws one fault of `kind` for the job: severity log-uniform in 0.1 … 3, onset in the second or
/// third fifth of the job's steps, a length of a fifth to two fifths, places uniform. A slow or
/// intermittent machine is one rank, or in one case of four a whole host. Uses `random_seed` only;
/// a job without stages has no kUnevenPartition.
Fault DrawFault(FaultKind kind, const JobOptions& options, std::uint64_t random_seed);

/// Steps that a fault of `kind` lasts where nobody says it: a spike kSpikeSteps, a freeze 30 s,
/// others to the end of the job.
std::int64_t UsualLength(FaultKind kind, const JobOptions& options);

}  // namespace ringward::replay
