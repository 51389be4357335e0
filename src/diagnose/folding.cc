#include "diagnose/folding.h"

#include <algorithm>
#include <cstdlib>

namespace ringward::diagnose {
namespace {

using signal::Finding;
using signal::FindingKind;

constexpr std::int64_t kNearSteps = 64;
constexpr double kNearSeconds = 15.0;

bool IsOneOf(FindingKind kind, std::initializer_list<FindingKind> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool IsJobTime(FindingKind kind) {
  return IsOneOf(kind, {FindingKind::kAllSlow, FindingKind::kWaitSlow, FindingKind::kUnevenWork});
}
/// Found long after the job went on again: it may have begun beside the stop, but is not its doing.
bool FoundLongAfter(const Finding& later, const Finding& stop) {
  return stop.over && later.step > stop.step + kNearSteps;
}
bool IsStop(FindingKind kind) {
  return IsOneOf(kind,
                 {FindingKind::kRankStalled, FindingKind::kRankSilent, FindingKind::kRankEnded,
                  FindingKind::kAllWait, FindingKind::kHostLost, FindingKind::kRankError});
}
bool IsNumber(FindingKind kind) {
  return IsOneOf(kind,
                 {FindingKind::kNonFinite, FindingKind::kLossSpike, FindingKind::kLossDiverging,
                  FindingKind::kGradientExplodes, FindingKind::kGradientVanishes,
                  FindingKind::kRankApart, FindingKind::kReplicasDiffer});
}

bool ShareARank(const Finding& a, const Finding& b) {
  return std::any_of(a.ranks.begin(), a.ranks.end(), [&](std::int32_t rank) {
    return std::binary_search(b.ranks.begin(), b.ranks.end(), rank);
  });
}

bool ShareAHost(const Finding& a, const Finding& b, const signal::Topology& topology) {
  if (a.ranks.empty() || b.ranks.empty()) return false;
  const auto host = [&](const Finding& finding) {
    const auto rank = static_cast<std::size_t>(finding.ranks.front());
    // A job opened anew may be smaller than the one of the member.
    return rank < topology.world() ? topology.place(rank).host : std::string();
  };
  return !host(a).empty() && host(a) == host(b);
}

bool IsOfHost(FindingKind kind) {
  return IsOneOf(kind, {FindingKind::kHostBusy, FindingKind::kHostSwaps,
                        FindingKind::kMemoryRunsOut, FindingKind::kDiskRunsOut});
}

bool NearInSteps(const Finding& a, const Finding& b) {
  return std::llabs(a.since_step - b.since_step) <= kNearSteps;
}
bool NearInTime(const Finding& a, const Finding& b) {
  return std::abs(signal::Seconds(a.at - b.at)) <= kNearSeconds;
}

bool SlownessTogether(const Finding& member, const Finding& later,
                      const signal::Topology& topology) {
  if (IsRankTime(member.kind) && IsRankTime(later.kind)) {
    return ShareARank(member, later) ||
           (ShareAHost(member, later, topology) && NearInSteps(member, later));
  }
  const bool stage =
      member.kind == FindingKind::kStageSlow || later.kind == FindingKind::kStageSlow;
  if (stage)
    return NearInSteps(member, later) && (ShareARank(member, later) || IsJobTime(later.kind));
  // Taking turns makes every rank's tail long, and one rank's long tail moves the ranks apart.
  const bool uneven =
      member.kind == FindingKind::kUnevenWork || later.kind == FindingKind::kUnevenWork;
  const bool tail = member.kind == FindingKind::kRankTail || later.kind == FindingKind::kRankTail;
  if (uneven && tail && !member.over) return true;
  return NearInSteps(member, later);
}

/// What a model finds unusual belongs to whatever has a name and goes on then, or began near it,
/// of the same ranks or of none in particular; and to what it finds unusual elsewhere just then.
bool UnusualTogether(const Finding& member, const Finding& later) {
  const bool both = member.kind == later.kind;
  const bool ranks =
      both || member.ranks.empty() || later.ranks.empty() || ShareARank(member, later);
  return ranks && (!member.over || NearInSteps(member, later));
}

/// What a host is short of, with its repeats and, where the job has one host, with what slows all.
bool OfHostTogether(const Finding& member, const Finding& later, const signal::Topology& topology) {
  if (member.kind == later.kind) return ShareAHost(member, later, topology);
  // Where all of a host lack cores, chance says which rank lacks them most.
  const bool starved =
      (member.kind == FindingKind::kHostBusy && later.kind == FindingKind::kRankStarved) ||
      (later.kind == FindingKind::kHostBusy && member.kind == FindingKind::kRankStarved);
  if (starved) return !member.over && ShareAHost(member, later, topology);
  const auto is_load = [](FindingKind kind) {
    return IsOneOf(kind, {FindingKind::kHostBusy, FindingKind::kHostSwaps});
  };
  const bool explains = (is_load(member.kind) && IsJobTime(later.kind)) ||
                        (is_load(later.kind) && IsJobTime(member.kind));
  return explains && topology.ByHost().size() == 1 && NearInTime(member, later);
}

}  // namespace

bool IsRankTime(FindingKind kind) {
  return IsOneOf(kind, {FindingKind::kRankSlow, FindingKind::kRankTail, FindingKind::kRankStarved,
                        FindingKind::kRankThrottled});
}

bool IsPast(const Finding& finding, std::span<const Finding> findings) {
  if (!IsStop(finding.kind) || finding.kind == FindingKind::kRankEnded ||
      finding.kind == FindingKind::kRankError)
    return false;
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& other) {
    return !other.over && FoundLongAfter(other, finding);
  });
}

int Decisiveness(FindingKind kind) {
  constexpr FindingKind kOrder[] = {FindingKind::kUnusual,          FindingKind::kThreshold,
                                    FindingKind::kAllSlow,          FindingKind::kWaitSlow,
                                    FindingKind::kUnevenWork,       FindingKind::kHostBusy,
                                    FindingKind::kStageSlow,        FindingKind::kClockSkew,
                                    FindingKind::kSourceLost,       FindingKind::kBlind,
                                    FindingKind::kGradientVanishes, FindingKind::kLossSpike,
                                    FindingKind::kGradientExplodes, FindingKind::kLossDiverging,
                                    FindingKind::kRankApart,        FindingKind::kReplicasDiffer,
                                    FindingKind::kRankTail,         FindingKind::kRankSlow,
                                    FindingKind::kRankStarved,      FindingKind::kRankThrottled,
                                    FindingKind::kRetransmits,      FindingKind::kHostSwaps,
                                    FindingKind::kDiskRunsOut,      FindingKind::kMemoryRunsOut,
                                    FindingKind::kMemoryTrend,      FindingKind::kNonFinite,
                                    FindingKind::kAllWait,          FindingKind::kRankStalled,
                                    FindingKind::kRankSilent,       FindingKind::kRankEnded,
                                    FindingKind::kRankError,        FindingKind::kHostLost,
                                    FindingKind::kGpuErrors};
  return static_cast<int>(std::find(std::begin(kOrder), std::end(kOrder), kind) -
                          std::begin(kOrder));
}

bool BelongTogether(const Finding& member, const Finding& later, const signal::Topology& topology) {
  if (member.id == later.id) return true;
  // What breaks a GPU's memory shows in its numbers, or ends its process.
  if (member.kind == FindingKind::kGpuErrors || later.kind == FindingKind::kGpuErrors) {
    const bool follows =
        later.kind == FindingKind::kGpuErrors || IsNumber(later.kind) || IsStop(later.kind);
    return follows && member.kind == FindingKind::kGpuErrors && ShareARank(member, later) &&
           NearInTime(member, later);
  }
  // What a user's rule says is told under the rule's name and no other.
  if (member.kind == FindingKind::kThreshold || later.kind == FindingKind::kThreshold) return false;
  if (member.kind == FindingKind::kUnusual || later.kind == FindingKind::kUnusual)
    return UnusualTogether(member, later);
  if (IsNumber(member.kind) && IsNumber(later.kind)) {
    // What is broken once stays broken; a spike is over when it is over.
    return member.kind == FindingKind::kNonFinite || NearInSteps(member, later);
  }
  if (IsStop(member.kind)) {
    // Those that wait for a host in vain end in the end.
    const bool in_vain = member.kind == FindingKind::kHostLost && !member.over;
    // What is found of a rank long after it has ended is of the process that took its place.
    const bool another = member.kind == FindingKind::kRankEnded && FoundLongAfter(later, member);
    const bool same = ShareARank(member, later) && !another;
    if (IsStop(later.kind)) return same || NearInTime(member, later) || in_vain;
    // Whom we are blind to is told, unless they are known to be gone.
    if (later.kind == FindingKind::kBlind)
      return same && IsOneOf(member.kind, {FindingKind::kRankEnded, FindingKind::kHostLost,
                                           FindingKind::kRankError});
    if (later.kind == FindingKind::kSourceLost) return same || NearInTime(member, later);
    return (IsRankTime(later.kind) || IsJobTime(later.kind)) && NearInSteps(member, later) &&
           !FoundLongAfter(later, member);
  }
  if (IsStop(later.kind)) {
    const bool blind = member.kind == FindingKind::kBlind && !member.over;
    return ShareARank(member, later) && !FoundLongAfter(later, member) &&
           (blind || IsOneOf(member.kind, {FindingKind::kSourceLost, FindingKind::kMemoryTrend}));
  }
  if (member.kind == FindingKind::kRetransmits || later.kind == FindingKind::kRetransmits) {
    const FindingKind other = member.kind == FindingKind::kRetransmits ? later.kind : member.kind;
    return IsOneOf(other, {FindingKind::kRetransmits, FindingKind::kWaitSlow}) &&
           NearInSteps(member, later);
  }
  if (IsOfHost(member.kind) || IsOfHost(later.kind)) return OfHostTogether(member, later, topology);
  const auto is_slowness = [](FindingKind kind) {
    return IsRankTime(kind) || IsJobTime(kind) || kind == FindingKind::kStageSlow;
  };
  if (is_slowness(member.kind) && is_slowness(later.kind))
    return SlownessTogether(member, later, topology);
  const bool same_kind = member.kind == later.kind;
  if (same_kind && later.kind == FindingKind::kMemoryTrend)
    return ShareAHost(member, later, topology);
  return same_kind && IsOneOf(later.kind, {FindingKind::kSourceLost, FindingKind::kBlind}) &&
         NearInTime(member, later);
}

}  // namespace ringward::diagnose
