#pragma once

#include <span>

#include "signal/cause.h"
#include "signal/finding.h"
#include "signal/topology.h"

namespace ringward::diagnose {

/// The cause that the findings of one incident come to: category, slug, culprits, victims, one
/// sentence, remedy. `findings` is not empty; the most decisive one names the cause. No machine is
/// blamed for uneven data or an uneven partition, and nobody where most ranks are concerned alike.
signal::Cause Judge(std::span<const signal::Finding> findings, const signal::Topology& topology,
                    double step_seconds);

}  // namespace ringward::diagnose
