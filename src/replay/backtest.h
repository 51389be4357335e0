#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "detect/detector.h"
#include "replay/fault.h"
#include "replay/simulate_job.h"
#include "signal/cause.h"

namespace ringward::replay {

/// One run of a simulated job through the pipeline.
struct Backtest {
  std::vector<signal::Cause> causes;  ///< as they stood when the run ended
  double seconds_of_job = 0.0;        ///< simulated
  double seconds_of_pipeline = 0.0;   ///< spent in pipeline::Step
  std::uint64_t samples = 0;
};

Result<Backtest> RunBacktest(const JobOptions& job, const detect::DetectOptions& options);

/// What came of one planted fault.
struct FaultOutcome {
  FaultKind kind = FaultKind::kSlowRank;
  double severity = 0.0;
  bool found = false;
  bool right_culprit = false;
  bool right_kind = false;
  std::int64_t delay_steps = 0;  ///< from onset to the step it was found in
  std::string told;              ///< the cause it was told as
};

/// Holds the incidents of a run (confidence of at least 0.5) against its planted faults: each fault
/// takes the first incident found in its time (and ten steps beyond); incidents left over are
/// false.
struct RunScore {
  std::vector<FaultOutcome> faults;
  std::int64_t incidents = 0;
  std::int64_t false_incidents = 0;
};
RunScore ScoreRun(const std::vector<signal::Cause>& causes, const std::vector<Fault>& faults);

}  // namespace ringward::replay
