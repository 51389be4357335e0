#pragma once

#include <span>

#include "signal/finding.h"
#include "signal/topology.h"

namespace ringward::diagnose {

/// How close a kind of finding is to a cause: of findings folded into one incident, the one of
/// highest rank names it, and the others are its symptoms.
int Decisiveness(signal::FindingKind kind);

/// Slow always, now and then, or for want of a core.
bool IsRankTime(signal::FindingKind kind);

/// A stop that is over, in an incident that goes on for what was found long after it: the job is
/// not to be called frozen again.
bool IsPast(const signal::Finding& finding, std::span<const signal::Finding> findings);

/// Whether `later` belongs to the incident that `member` is part of: the same trouble seen again,
/// seen from another side, or following from it. Both are findings of one job of that `topology`;
/// `later` was found after `member`.
bool BelongTogether(const signal::Finding& member, const signal::Finding& later,
                    const signal::Topology& topology);

}  // namespace ringward::diagnose
