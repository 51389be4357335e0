#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "replay/simulate_job.h"

namespace ringward::replay {

/// Reads a job and its planted faults from TOML (docs/formats/fault_plan.md). What the text leaves
/// out stays as it is in `options`; ranks of a host that a fault names are filled in. Errors are
/// kInvalidInput, "FILE:LINE:COLUMN: key: what".
Status ParseFaultPlan(std::string_view text, const std::string& file, JobOptions& options);

/// The plan as TOML that ParseFaultPlan reads back: a run's truth, to lie beside its recording.
std::string FaultPlanText(const JobOptions& options);

}  // namespace ringward::replay
