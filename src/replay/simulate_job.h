#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "replay/fault.h"
#include "signal/event.h"
#include "signal/topology.h"

namespace ringward::replay {

/// A synchronous job: every step, each rank reads its input, computes, and waits in the collective
/// until the slowest has come and the transfer is done. In a pipeline job each rank also has a
/// stage, and a step takes as long as the slowest rank of any stage.
struct JobOptions {
  std::int32_t world = 64;          ///< 2 .. 16,384
  std::int32_t ranks_per_host = 8;  ///< >= 1
  std::int32_t stages = 1;          ///< 1: data parallel; else divides world
  std::int64_t steps = 1000;        ///< >= 1
  double step_seconds = 1.0;        ///< of a typical step, > 0
  double cv = 0.05;                 ///< coefficient of variation of a rank's self time, 0 .. 0.5
  std::uint64_t seed = 0;
  std::vector<Fault> faults;  ///< by onset; kFreeze and kKill last
};

/// Takes the job's events in order; an error ends the simulation with it.
using EventSink = std::function<Status(const signal::Event&)>;

/// Hosts are called "node0", "node1", …; ranks fill host after host. In a pipeline job rank r is
/// stage r % stages of replica r / stages.
signal::Topology TopologyOf(const JobOptions& options);

/// Runs a job. The same options give the same events. Self time is a share of 0.75 of a step, input
/// 0.05 of it and the transfer 0.2; noise of self time is heavy-tailed and autocorrelated, partly
/// common to all ranks, over steady differences between ranks. kInvalidInput for options out of
/// range.
Status SimulateJob(const JobOptions& options, const EventSink& sink);

}  // namespace ringward::replay
