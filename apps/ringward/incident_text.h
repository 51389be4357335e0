#pragma once

#include <vector>

#include "ingest/step_csv/step_csv.h"
#include "ringward/cli/json.h"
#include "ringward/cli/output.h"
#include "signal/cause.h"
#include "signal/finding.h"

namespace ringward::cli {

/// The document of `diagnose` and `replay`: healthy, incidents (surest first).
Json IncidentsJson(const std::vector<signal::Cause>& causes);
Json InputsJson(const std::vector<ingest::InputReport>& inputs);
Json FindingsJson(const std::vector<signal::Finding>& findings);

/// The same for people.
void PrintIncidents(const std::vector<signal::Cause>& causes, Output& out);

}  // namespace ringward::cli
