#pragma once

#include <string>

#include "ringward/cli/json.h"
#include "watch/http/heat.h"
#include "watch/http/snapshot.h"

namespace ringward::watch {

/// The documents of docs/api.md. Pure.

/// Of one job, as a list of jobs shows it.
cli::Json JobSummaryJson(const JobSnapshot& job);
/// `at` and `jobs`.
cli::Json JobsJson(const Snapshot& snapshot);
/// `at` and `agents`: those of other hosts.
cli::Json AgentsJson(const Snapshot& snapshot);
/// The summary, the open incidents, and a table of all ranks by columns.
cli::Json JobJson(const JobSnapshot& job);
/// `job`, `healthy`, and `incidents`: open ones first, then the newest.
cli::Json IncidentsOfJson(const JobSnapshot& job);
/// One line of JSON; the bytes of the tile in base64.
std::string HeatText(const JobSnapshot& job, RankMetric metric, std::size_t columns);

}  // namespace ringward::watch
