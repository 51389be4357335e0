#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "comm/board.h"
#include "comm/communicator.h"
#include "launch/environment.h"

namespace ringward::rank {

/// Makes this rank's communicator for the engine that the launcher chose. `board` may be null, else
/// it outlives the communicator. Errors: those of the engine; kInvalidInput for an engine that is
/// unknown or not in this build.
Result<std::unique_ptr<comm::Communicator>> Join(const launch::RankEnvironment& environment,
                                                 comm::Board* board);

}  // namespace ringward::rank
