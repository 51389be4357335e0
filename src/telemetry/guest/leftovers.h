#pragma once

#include "telemetry/guest/segment.h"

namespace ringward::telemetry {

/// True where the segment `file` of the open folder belongs to the caller's user and its process,
/// named by pid and start time in the caller's own pid namespace, is gone. False in every doubt: a
/// segment of another user or namespace, one that cannot be read, one that is being made. Any
/// thread.
bool IsLeftover(int folder, const char* file, const SegmentName& name);

/// Removes the leftovers in `folder` of the job and rank of `name`; of all jobs and ranks where it
/// is null. Returns how many. Any thread; several processes may do so at once.
int RemoveLeftovers(const char* folder, const SegmentName* name);

}  // namespace ringward::telemetry
