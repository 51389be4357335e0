#pragma once

#include <vector>

#include "signal/metric.h"
#include "telemetry/host/host_sampler.h"
#include "watch/source.h"

namespace ringward::watch {

/// The numbers that detectors know of a rank's machine; what is not known is left out.
std::vector<MachineValue> MachineValuesOf(const telemetry::HostUse& host,
                                          const telemetry::ProcessSight& process);

/// Whether the metric says how much there is just now; others are rates and shares of a time.
bool IsLevel(signal::Known metric);

}  // namespace ringward::watch
