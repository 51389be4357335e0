#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "comm/communicator.h"
#include "comm/engine_base.h"

namespace ringward::comm {

/// The ranks of one group on threads of this process: for tests, and for training with one rank.
/// Rank r's communicator is element r; each may be used on a thread of its own, and outlives the
/// others safely. All-reduce works in place on the peers' memory, 1/P of the elements per rank, in
/// rank order: no copies, the same bits whatever the timing. Mismatched calls (another operation,
/// count, type, op, root or counts on another rank) fail with kInvalidInput on every rank.
/// A communicator that is destroyed while peers still wait for it is a lost peer: kUnavailable.
/// REQUIRES: world >= 1, timeout > 0.
std::vector<std::unique_ptr<Communicator>> MakeLocalGroup(
    int world, std::chrono::milliseconds timeout = kDefaultTimeout);

/// A group of one: every collective is at most a copy.
std::unique_ptr<Communicator> MakeLocal();

/// Runs `body` once per rank on `world` threads over a local group, and joins them. Tests exercise
/// collectives with it, without sockets, ports or mpirun.
void RunRanks(int world, const std::function<void(Communicator&)>& body,
              std::chrono::milliseconds timeout = kDefaultTimeout);

}  // namespace ringward::comm
