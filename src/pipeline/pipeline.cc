#include "pipeline/pipeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ringward::pipeline {
namespace {

/// Folds what was found since the last call. Called after every event, so that what is folded does
/// not depend on how many events come at a time.
void Collect(State& state, Outcome& outcome) {
  std::vector<signal::Finding> findings = state.detectors.Take();
  if (findings.empty()) return;
  state.incidents.SetTopology(state.detectors.topology());
  for (signal::Cause& cause : state.incidents.Fold(findings, state.detectors.step_seconds())) {
    const auto known = std::find_if(outcome.causes.begin(), outcome.causes.end(),
                                    [&](const auto& other) { return other.id == cause.id; });
    if (known == outcome.causes.end()) {
      outcome.causes.push_back(std::move(cause));
    } else {
      *known = std::move(cause);
    }
  }
  std::move(findings.begin(), findings.end(), std::back_inserter(outcome.findings));
}

}  // namespace

Outcome Step(State& state, std::span<const signal::Event> events, signal::Time now) {
  Outcome outcome;
  for (const signal::Event& event : events) {
    state.detectors.OnEvent(event);
    Collect(state, outcome);
  }
  state.detectors.OnTime(now);
  Collect(state, outcome);
  return outcome;
}

Outcome Finish(State& state, signal::Time now) {
  Outcome outcome;
  state.detectors.Finish(now);
  Collect(state, outcome);
  return outcome;
}

}  // namespace ringward::pipeline
