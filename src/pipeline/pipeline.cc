#include "pipeline/pipeline.h"

namespace ringward::pipeline {
namespace {

Outcome Collect(State& state) {
  Outcome outcome;
  outcome.findings = state.detectors.Take();
  if (!outcome.findings.empty()) {
    state.incidents.SetTopology(state.detectors.topology());
    outcome.causes = state.incidents.Fold(outcome.findings, state.detectors.step_seconds());
  }
  return outcome;
}

}  // namespace

Outcome Step(State& state, std::span<const signal::Event> events, signal::Time now) {
  for (const signal::Event& event : events) state.detectors.OnEvent(event);
  state.detectors.OnTime(now);
  return Collect(state);
}

Outcome Finish(State& state, signal::Time now) {
  state.detectors.Finish(now);
  return Collect(state);
}

}  // namespace ringward::pipeline
