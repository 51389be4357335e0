#pragma once

#include <span>
#include <vector>

#include "detect/detector_set.h"
#include "diagnose/incidents.h"
#include "signal/cause.h"
#include "signal/event.h"
#include "signal/finding.h"

namespace ringward::pipeline {

/// The watching path's memory of one job. Not safe for concurrent use.
struct State {
  explicit State(const detect::DetectOptions& options) : detectors(options) {}

  detect::DetectorSet detectors;
  diagnose::Incidents incidents;
};

/// What one step came to.
struct Outcome {
  std::vector<signal::Finding> findings;
  std::vector<signal::Cause> causes;  ///< new or changed
};

/// The watching path: events in, findings and causes out. No I/O, no clock but `now`: the same
/// calls with the same events give the same outcome, live and in replay. `now` does not go back and
/// is at least the last event's time of receipt.
Outcome Step(State& state, std::span<const signal::Event> events, signal::Time now);

/// The job or its recording has ended at `now`: what is still open is closed.
Outcome Finish(State& state, signal::Time now);

}  // namespace ringward::pipeline
