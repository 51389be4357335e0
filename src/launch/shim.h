#pragma once

#include <string>
#include <vector>

namespace ringward::launch {

/// Stands between whoever starts processes (mpirun, or the launcher itself) and one rank: opens the
/// rank's pipes, takes its slot on the board, starts it as a child, passes SIGTERM and SIGINT on,
/// and writes its exit status down the moment it ends. mpirun keeps the true status to itself and
/// often names the wrong process as the first to fail; a parent of one's own does neither.
///
/// The rank has its own process group and dies with its shim, the shim with its starter.
/// The rank number is RINGWARD_RANK, or without that OMPI_COMM_WORLD_RANK. Returns the exit status
/// for the shim's process: the rank's, or 128 + its signal, or 126 if the rank cannot be started.
int RunShim(const std::vector<std::string>& command);

}  // namespace ringward::launch
