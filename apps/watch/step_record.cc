#include "watch/step_record.h"

#include <algorithm>
#include <array>

namespace ringward::watch {
namespace {

signal::Phase SamePhase(telemetry::Phase phase) {
  constexpr std::array<signal::Phase, telemetry::kPhases> kSame = {
      signal::Phase::kOther,      signal::Phase::kData,        signal::Phase::kForward,
      signal::Phase::kBackward,   signal::Phase::kCommunicate, signal::Phase::kOptimizer,
      signal::Phase::kCheckpoint, signal::Phase::kEvaluate};
  return kSame[static_cast<std::size_t>(phase)];
}

}  // namespace

signal::Phase PhaseOf(const telemetry::SegmentState& state) {
  if (state.slow == telemetry::SlowReason::kNone) return SamePhase(state.phase);
  return state.slow == telemetry::SlowReason::kCheckpoint ? signal::Phase::kCheckpoint
                                                          : signal::Phase::kEvaluate;
}

double SelfSeconds(const telemetry::StepRecord& record,
                   std::initializer_list<telemetry::Phase> phases) {
  std::uint64_t ns = 0;
  for (const telemetry::Phase phase : phases) {
    const auto p = static_cast<std::size_t>(phase);
    ns += record.phase_ns[p] - std::min(record.phase_ns[p], record.wait_ns[p]);
  }
  return 1e-9 * static_cast<double>(ns);
}

double WaitSeconds(const telemetry::StepRecord& record) {
  std::uint64_t ns = record.phase_ns[static_cast<std::size_t>(telemetry::Phase::kCommunicate)];
  for (std::size_t p = 0; p < telemetry::kPhases; ++p) {
    if (p != static_cast<std::size_t>(telemetry::Phase::kCommunicate))
      ns += std::min(record.wait_ns[p], record.phase_ns[p]);
  }
  return 1e-9 * static_cast<double>(ns);
}

std::optional<signal::Known> KnownOf(std::uint32_t metric) {
  switch (metric) {
    case telemetry::kLocalLoss:
      return signal::Known::kLoss;
    case telemetry::kLocalGradientNorm:
      return signal::Known::kGradientNorm;
    case telemetry::kSamples:
      return signal::Known::kSamples;
    default:
      return std::nullopt;
  }
}

}  // namespace ringward::watch
