#include "detect/detector.h"
#include "detect/exhaustion.h"
#include "detect/host_counters.h"
#include "detect/host_load.h"
#include "detect/job_time.h"
#include "detect/liveness.h"
#include "detect/log_lines.h"
#include "detect/memory_trend.h"
#include "detect/numbers.h"
#include "detect/rank_apart.h"
#include "detect/self_time.h"
#include "detect/stage_time.h"
#include "detect/threshold.h"

namespace ringward::detect {
namespace {

template <typename T>
std::unique_ptr<Detector> Make(const signal::Topology& topology, const DetectOptions& options) {
  return std::make_unique<T>(topology, options);
}

}  // namespace

const std::vector<DetectorKind>& DetectorTable() {
  static const std::vector<DetectorKind> kTable = {
      {"self-time", "one rank slower than it was and than the others", 0.33,
       Make<SelfTimeDetector>},
      {"job-time", "transfer, input, compute or evenness of the whole job", 0.2,
       Make<JobTimeDetector>},
      {"stage-time", "one pipeline stage slower against the others", 0.05, Make<StageTimeDetector>},
      {"liveness", "ranks that stopped, ended, or went out of sight", 0.0, Make<LivenessDetector>},
      {"log-lines", "what logs say of stalled and failed ranks", 0.0, Make<LogLinesDetector>},
      {"non-finite", "the first rank whose numbers are not finite", 0.0, Make<NonFiniteDetector>},
      {"loss", "spikes and divergence of loss and gradient norm", 0.08, Make<LossDetector>},
      {"rank-apart", "one rank's numbers away from the others'", 0.07, Make<RankApartDetector>},
      {"memory-trend", "memory that will reach its limit", 0.0, Make<MemoryTrendDetector>},
      {"host-counters", "retransmissions and clocks of hosts, memory errors of GPUs", 0.0,
       Make<HostCountersDetector>},
      {"host-load", "hosts short of cores for all their ranks, or swapping", 0.0,
       Make<HostLoadDetector>},
      {"exhaustion", "memory of hosts and space on disks that will run out", 0.0,
       Make<ExhaustionDetector>},
      {"threshold", "numbers beyond limits that the user has set", 0.0, Make<ThresholdDetector>},
  };
  return kTable;
}

}  // namespace ringward::detect
