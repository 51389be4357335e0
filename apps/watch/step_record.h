#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "signal/metric.h"
#include "telemetry/segment_reader.h"

namespace ringward::watch {

/// Where a rank stands; announced slowness counts as the phase that is known to be slow.
signal::Phase PhaseOf(const telemetry::SegmentState& state);

/// Time in phases of one kind, without the waiting in them; seconds.
double SelfSeconds(const telemetry::StepRecord& record,
                   std::initializer_list<telemetry::Phase> phases);

/// Time in phase communicate, and the waiting in all others; seconds.
double WaitSeconds(const telemetry::StepRecord& record);

/// What a recorder's metric is called in frames; nothing where detectors do not read it.
std::optional<signal::Known> KnownOf(std::uint32_t metric);

}  // namespace ringward::watch
