#pragma once

#include <vector>

#include "base/result.h"
#include "detect/detector.h"
#include "recording/reader.h"
#include "replay/simulate_job.h"
#include "signal/cause.h"
#include "signal/event.h"
#include "signal/finding.h"

namespace ringward::replay {

/// What the pipeline says of a run.
struct Replayed {
  std::vector<signal::Finding> findings;
  std::vector<signal::Cause> causes;  ///< as they stood at the end
  double seconds = 0.0;               ///< from the first call of the pipeline to the last
};

/// Runs events through the pipeline, one call for each.
Replayed ReplayEvents(const std::vector<signal::Event>& events,
                      const detect::DetectOptions& options);

/// Which rules a recording is replayed with.
enum class ReplayRules {
  kRecorded,  ///< those it was made with, as they changed; the given ones until it names any
  kGiven,     ///< the given ones throughout
};

/// Runs a recording through the pipeline, making the calls that were made live: the same rules give
/// the same findings. A recording without calls is replayed event by event. Errors are the
/// reader's, and kCorrupt for recorded rules that are none.
Result<Replayed> ReplayRecording(recording::Reader& reader, const detect::DetectOptions& options,
                                 ReplayRules rules = ReplayRules::kRecorded);

/// Simulates a job and records it in `path`, with a call for each event. Errors: those of the
/// writer, and kInvalidInput of SimulateJob.
Status RecordSimulation(const JobOptions& options, const std::string& path);

}  // namespace ringward::replay
