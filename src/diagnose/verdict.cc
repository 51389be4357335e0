#include "diagnose/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "diagnose/folding.h"

namespace ringward::diagnose {
namespace {

using signal::Category;
using signal::Cause;
using signal::Finding;
using signal::FindingKind;
using signal::Remedy;
using signal::Severity;

constexpr double kUndecided = 0.45;  // told as information, nobody is accused

constexpr double kOwnShare = 0.5;  // of what uneven work costs, for a rank to be its reason

struct Rule {
  FindingKind kind;
  Category category;
  const char* cause;
  bool blames;  ///< the ranks of the finding are culprits
  double confidence;
  Remedy action;
  const char* remedy;
  Severity severity = Severity::kWarning;
};

constexpr Rule kRules[] = {
    {FindingKind::kRankSlow, Category::kCompute, "slow-rank", true, 0.9, Remedy::kExcludeHost,
     "look at that machine (neighbours, clock speed, temperature, memory), and leave it out if it "
     "stays slow"},
    {FindingKind::kRankTail, Category::kCompute, "intermittent-slow-rank", true, 0.85,
     Remedy::kNone,
     "look for what runs there now and then: another job, garbage collection, a throttled clock"},
    {FindingKind::kStageSlow, Category::kCompute, "uneven-partition", false, 0.85,
     Remedy::kFixConfig, "move layers from the slow stage to the others; no machine is at fault"},
    {FindingKind::kAllSlow, Category::kResourceContention, "all-ranks-slow", false, 0.45,
     Remedy::kNone, "see what else runs on the machines: every rank is slower alike"},
    {FindingKind::kWaitSlow, Category::kCommunication, "slow-network", false, 0.85, Remedy::kNone,
     "look at the network between the hosts: the transfer itself is slower, on all ranks alike"},
    {FindingKind::kUnevenWork, Category::kCompute, "uneven-data", false, 0.8, Remedy::kFixConfig,
     "even out the work per batch (bucket by length, balance by cost); no machine is at fault"},
    {FindingKind::kRankStalled, Category::kCommunication, "rank-stalled", true, 0.9, Remedy::kNone,
     "find what that rank did outside the collective: input, checkpoint, a lock, a branch the "
     "others do not take",
     Severity::kCritical},
    {FindingKind::kRankSilent, Category::kResourceContention, "rank-frozen", true, 0.9,
     Remedy::kRestart,
     "look at that process (stopped? in the kernel?), take its stacks, then restart the job",
     Severity::kCritical},
    {FindingKind::kAllWait, Category::kCommunication, "network-stalled", false, 0.8, Remedy::kNone,
     "look at the network between the hosts (link, switch, firewall), and whether all ranks are in "
     "the same collective; then restart the job",
     Severity::kCritical},
    {FindingKind::kRankEnded, Category::kProcessCrash, "killed", true, 0.95, Remedy::kRestart,
     "read that rank's last lines and its kernel's log for the reason; restart the job",
     Severity::kCritical},
    {FindingKind::kRankError, Category::kProcessCrash, "rank-failed", true, 0.9, Remedy::kNone,
     "read the log around that line: it is the first error of that rank, and what others say after "
     "it follows from it",
     Severity::kCritical},
    {FindingKind::kSourceLost, Category::kCommunication, "lost-reports", true, 0.7, Remedy::kNone,
     "see whether the agent of that host runs and reaches the aggregator; the job itself goes on"},
    {FindingKind::kBlind, Category::kCommunication, "blind", false, 0.9, Remedy::kNone,
     "see whether the agent of that host runs and reaches the aggregator; nothing is known of its "
     "ranks, which may be well"},
    {FindingKind::kHostLost, Category::kHardware, "host-lost", true, 0.6, Remedy::kNone,
     "see whether that host is up and reaches the network; restart the job without it if not",
     Severity::kCritical},
    {FindingKind::kNonFinite, Category::kNumerics, "non-finite", true, 0.95, Remedy::kRollback,
     "look at that rank's rows of that step; go back to the last checkpoint and skip them",
     Severity::kCritical},
    {FindingKind::kLossSpike, Category::kNumerics, "loss-spike", false, 0.7, Remedy::kNone,
     "look at the rows of that step; if it does not come back, go back to a checkpoint"},
    {FindingKind::kLossDiverging, Category::kNumerics, "loss-diverging", false, 0.85,
     Remedy::kRollback, "go back to a checkpoint from before the rise and lower the learning rate",
     Severity::kCritical},
    {FindingKind::kGradientExplodes, Category::kNumerics, "gradient-explosion", false, 0.75,
     Remedy::kRollback, "clip gradients or lower the learning rate", Severity::kCritical},
    {FindingKind::kGradientVanishes, Category::kNumerics, "gradient-vanishing", false, 0.6,
     Remedy::kNone, "look at the activations and the loss scale: hardly any gradient is left"},
    {FindingKind::kRankApart, Category::kNumerics, "rank-apart", true, 0.8, Remedy::kNone,
     "compare that rank's data and preprocessing with the others'; test its memory if they are "
     "alike"},
    {FindingKind::kReplicasDiffer, Category::kNumerics, "replicas-differ", true, 0.9,
     Remedy::kRollback,
     "stop before these weights are saved; test that machine's memory and accelerator",
     Severity::kCritical},
    {FindingKind::kMemoryTrend, Category::kMemory, "memory-leak", true, 0.8, Remedy::kRestart,
     "restart before the limit is reached, and look for what that process keeps"},
    {FindingKind::kRetransmits, Category::kCommunication, "slow-link", true, 0.8,
     Remedy::kExcludeHost, "look at that host's link: cable, port, duplex, errors at the switch"},
    {FindingKind::kClockSkew, Category::kConfiguration, "clock-skew", true, 0.8, Remedy::kFixConfig,
     "synchronise that host's clock"},
    {FindingKind::kRankStarved, Category::kResourceContention, "busy-neighbour", false, 0.85,
     Remedy::kNone,
     "see what else runs on that core (another job, a daemon, another guest of the machine) and "
     "move it or the rank away"},
    {FindingKind::kHostBusy, Category::kResourceContention, "host-overloaded", false, kUndecided,
     Remedy::kNone, "give that machine fewer ranks or threads, or end what else runs there"},
    {FindingKind::kHostSwaps, Category::kMemory, "host-swaps", false, 0.8, Remedy::kNone,
     "make room on that machine: fewer ranks, smaller batches, fewer loader processes"},
    {FindingKind::kMemoryRunsOut, Category::kMemory, "memory-runs-out", false, 0.75,
     Remedy::kRestart, "find what grows on that machine before the kernel kills a rank for it",
     Severity::kCritical},
    {FindingKind::kDiskRunsOut, Category::kDataIo, "disk-runs-out", false, 0.75, Remedy::kNone,
     "make room on that disk, or stop what fills it, before checkpoints fail", Severity::kCritical},
    {FindingKind::kRankThrottled, Category::kHardware, "gpu-throttled", true, 0.9,
     Remedy::kExcludeHost,
     "look at the cooling and the power supply of that GPU; leave its host out until it is mended"},
    {FindingKind::kGpuErrors, Category::kHardware, "gpu-ecc", true, 0.95, Remedy::kExcludeHost,
     "take that host out, reset and test the GPU; go back to a checkpoint from before the error"},
    {FindingKind::kThreshold, Category::kResourceContention, "threshold", true, 0.9, Remedy::kNone,
     "a limit of your own rules is passed: look at what it was set for"},
    {FindingKind::kUnusual, Category::kCompute, "unusual", true, 0.6, Remedy::kNone,
     "compare the numbers named with healthy steps; no rule tells what this is, so look before you "
     "act"},
};

const Rule& RuleOf(FindingKind kind) {
  return *std::find_if(std::begin(kRules), std::end(kRules),
                       [kind](const Rule& rule) { return rule.kind == kind; });
}

std::string ListOf(const std::vector<std::int32_t>& ranks) {
  constexpr std::size_t kShown = 8;
  if (ranks.size() <= kShown) {
    return fmt::format("rank{} {}", ranks.size() > 1 ? "s" : "", fmt::join(ranks, ", "));
  }
  const std::vector<std::int32_t> first(ranks.begin(), ranks.begin() + kShown);
  return fmt::format("ranks {} and {} more", fmt::join(first, ", "), ranks.size() - kShown);
}

/// Only those that end with the very words of the first, in the same moment, are as guilty.
bool IsAnotherError(const Finding& finding, const Finding& leader) {
  constexpr double kMoment = 5.0;  // logs are waited for: an error may have been caught
  return leader.kind == FindingKind::kRankError && finding.kind == leader.kind &&
         (finding.place.text != leader.place.text ||
          signal::Seconds(finding.at - leader.at) > kMoment);
}

/// The ranks of all findings that say the same as the leader. Slow always and slow now and then are
/// the same trouble of a machine, seen on several of its ranks.
std::vector<std::int32_t> RanksOf(std::span<const Finding> findings, const Finding& leader) {
  const FindingKind kind = leader.kind;
  std::set<std::int32_t> ranks;
  for (const Finding& finding : findings) {
    // The others end because of the first.
    const bool late = kind == FindingKind::kRankEnded && finding.at > leader.at;
    if (late || IsAnotherError(finding, leader)) continue;
    // Who has no core is not to blame beside one that is slow by itself.
    const bool excused =
        finding.kind == FindingKind::kRankStarved && kind != FindingKind::kRankStarved;
    if (finding.kind == kind || (IsRankTime(kind) && IsRankTime(finding.kind) && !excused))
      ranks.insert(finding.ranks.begin(), finding.ranks.end());
  }
  return {ranks.begin(), ranks.end()};
}

/// The same with the few that are missing of a host: what slows a machine slows all of it, and
/// where that is little some are found late.
std::vector<std::int32_t> WithTheRestOfHosts(const std::vector<std::int32_t>& ranks,
                                             const signal::Topology& topology) {
  constexpr std::size_t kMissedOf = 8;  // one of so many
  std::set<std::int32_t> all(ranks.begin(), ranks.end());
  for (const auto& group : topology.ByHost()) {
    const auto found = std::count_if(group.begin(), group.end(), [&](std::int32_t rank) {
      return std::binary_search(ranks.begin(), ranks.end(), rank);
    });
    if (found > 0 && kMissedOf * (group.size() - static_cast<std::size_t>(found)) <= group.size())
      all.insert(group.begin(), group.end());
  }
  return {all.begin(), all.end()};
}

/// Hosts all of whose ranks, at least two of them, are culprits; or those a finding names.
std::vector<std::string> HostsOf(const std::vector<std::int32_t>& ranks, const Finding& leader,
                                 std::span<const Finding> findings,
                                 const signal::Topology& topology) {
  std::set<std::string> hosts;
  if (!leader.host.empty()) {
    for (const Finding& finding : findings) {
      if (finding.kind == leader.kind) hosts.insert(finding.host);
    }
  } else if (IsRankTime(leader.kind)) {
    for (const auto& group : topology.ByHost()) {
      const std::string& host = topology.place(static_cast<std::size_t>(group.front())).host;
      const bool all =
          group.size() > 1 && std::includes(ranks.begin(), ranks.end(), group.begin(), group.end());
      if (all && !host.empty()) hosts.insert(host);
    }
  }
  return {hosts.begin(), hosts.end()};
}

void NameInput(const Finding& leader, Cause& cause) {
  if (leader.phase != signal::Phase::kData) return;
  cause.category = Category::kDataIo;
  cause.cause = "slow-input";
  cause.action = Remedy::kNone;
  cause.remedy =
      leader.ranks.empty()
          ? "look at the storage that all ranks read from"
          : "look at what that rank reads from: its disk, mount, cache and loader processes";
  if (leader.kind == FindingKind::kAllSlow) cause.confidence = 0.75;
}

/// A user's rule says itself what it is.
void NameRule(const Finding& leader, Cause& cause) {
  if (!leader.rule.empty()) cause.cause = leader.rule;
  cause.category = leader.category;
  cause.severity = leader.severity;
}

/// Alone in its stage, a rank with more work looks as a slow machine does: nobody is accused.
void DoubtStage(const signal::Topology& topology, Cause& cause) {
  for (const auto& stage : topology.ByStage()) {
    const bool alone = stage.size() == 1 && topology.has_stages();
    const bool culprit =
        std::binary_search(cause.culprit_ranks.begin(), cause.culprit_ranks.end(), stage.front());
    if (alone && culprit) cause.confidence = kUndecided;
  }
}

/// Between ranks of one host there is no network: when their transfer slows down, the host is busy
/// with something else. That is information, not an accusation.
void DoubtNetwork(const signal::Topology& topology, Cause& cause) {
  const bool one_host = topology.ByHost().size() == 1 && topology.world() > 0;
  if (!one_host || topology.place(0).host.empty()) return;
  cause.category = Category::kResourceContention;
  cause.cause = "busy-host";
  cause.confidence = kUndecided;
  cause.remedy = "see what else runs on that machine: all ranks wait longer for each other";
}

/// " on node7" where the job has several hosts and all of the ranks run on one.
std::string PlaceOf(const std::vector<std::int32_t>& ranks, const signal::Topology& topology) {
  const auto host = [&](std::size_t rank) -> const std::string& {
    static const std::string none;
    return rank < topology.world() ? topology.place(rank).host : none;
  };
  const std::string& first = host(static_cast<std::size_t>(ranks.front()));
  bool several = false;
  for (std::size_t rank = 0; rank < topology.world(); ++rank)
    several = several || host(rank) != first;
  const bool together = std::all_of(ranks.begin(), ranks.end(), [&](std::int32_t rank) {
    return host(static_cast<std::size_t>(rank)) == first;
  });
  return several && together && !first.empty() ? " on " + first : "";
}

std::string Sentence(const Cause& cause, const Finding& leader, const signal::Topology& topology) {
  const std::size_t world = topology.world();
  std::string who = cause.culprit_ranks.empty()
                        ? "no rank in particular"
                        : ListOf(cause.culprit_ranks) + PlaceOf(cause.culprit_ranks, topology);
  if (!cause.culprit_hosts.empty())
    who = fmt::format("host {}", fmt::join(cause.culprit_hosts, ", "));
  std::string text = fmt::format("{}: {}; {}", cause.cause, who, leader.evidence);
  if (cause.speedup_without > 1.02 && !cause.culprit_ranks.empty()) {
    text +=
        fmt::format("; without {} this job of {} ranks would run {:.2f}x faster",
                    cause.culprit_ranks.size() > 1 ? "them" : "it", world, cause.speedup_without);
  }
  return text;
}

void AddUp(std::span<const Finding> findings, double step_seconds, Cause& cause) {
  double lost_share = 0.0;
  cause.over = true;
  cause.since_step = findings.front().since_step;
  cause.found_step = findings.front().step;
  cause.started = cause.found = findings.front().at;
  for (const Finding& finding : findings) {
    cause.since_step = std::min(cause.since_step, finding.since_step);
    cause.found_step = std::min(cause.found_step, finding.step);
    cause.over = cause.over && finding.over;
    cause.lost_seconds = std::max(cause.lost_seconds, finding.lost_seconds);
    if (finding.elapsed_seconds > 0.0) {
      lost_share = std::max(lost_share, finding.lost_seconds / finding.elapsed_seconds);
    }
    cause.evidence.push_back(finding.place.line > 0 ? finding.place
                                                    : signal::Evidence{"", 0, finding.evidence});
  }
  const auto steps =
      static_cast<double>(std::max<std::int64_t>(0, cause.found_step - cause.since_step));
  // Never before the epoch, however long steps are said to be.
  cause.started -= signal::FromSeconds(
      std::clamp(step_seconds * steps, 0.0, std::max(signal::Seconds(cause.found), 0.0)));
  cause.speedup_without = 1.0 / std::max(1.0 - std::min(lost_share, 0.99), 0.01);
}

/// Whether ranks are slow by themselves rather than for want of cores: what goes on now says it
/// before what is over, else the majority of a machine's ranks.
bool SlowByThemselves(std::span<const Finding> findings) {
  std::ptrdiff_t votes = 0;
  bool slow_now = false;
  bool starved_now = false;
  for (const Finding& finding : findings) {
    if (!IsRankTime(finding.kind)) continue;
    const bool starved = finding.kind == FindingKind::kRankStarved;
    votes += starved ? -1 : 1;
    (starved ? starved_now : slow_now) |= !finding.over;
  }
  return votes > 0 || (slow_now && !starved_now);
}

/// Whether all of the host lack cores, rather than some of its ranks: what goes on now says it.
bool ShortOfCoresAlike(std::span<const Finding> findings) {
  const auto any = [&](FindingKind kind, bool over) {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return finding.kind == kind && finding.over == over;
    });
  };
  const bool now = any(FindingKind::kHostBusy, false);
  return now || (any(FindingKind::kHostBusy, true) && !any(FindingKind::kRankStarved, false));
}

/// What uneven work costs, as a share of a step.
double CostOfUnevenWork(std::span<const Finding> findings) {
  double cost = 0.0;
  for (const Finding& finding : findings) {
    if (finding.kind == FindingKind::kUnevenWork) cost = std::max(cost, finding.effect);
  }
  return cost;
}

/// The most decisive finding. Of a machine's ranks the majority says whether it is slow always, now
/// and then, or for want of cores. Of a rank's repeats the worst that goes on speaks.
const Finding& LeaderOf(std::span<const Finding> findings) {
  const auto count = [&](FindingKind kind) {
    return std::count_if(findings.begin(), findings.end(),
                         [kind](const Finding& finding) { return finding.kind == kind; });
  };
  const auto slow = count(FindingKind::kRankSlow);
  const auto tail = count(FindingKind::kRankTail);
  const bool by_themselves = SlowByThemselves(findings);
  const bool host_busy = ShortOfCoresAlike(findings);
  const double uneven = CostOfUnevenWork(findings);
  const bool stalled = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.kind == FindingKind::kRankStalled && finding.place.line > 0;
  });
  const auto weight = [&](const Finding& finding) {
    const bool outvoted = (finding.kind == FindingKind::kRankSlow && tail > slow) ||
                          (finding.kind == FindingKind::kRankStarved && by_themselves);
    if (IsPast(finding, findings)) return -1;
    // Work that moves about is now and then with this rank: it explains little of the gap.
    if (IsRankTime(finding.kind) && finding.effect < kOwnShare * uneven)
      return Decisiveness(FindingKind::kUnevenWork) - 1;
    // What Horovod says of a rank is more than that nothing is seen of it: its threads are alive.
    if (finding.kind == FindingKind::kRankSilent && stalled)
      return Decisiveness(FindingKind::kRankStalled) - 1;
    if (finding.kind == FindingKind::kRankStarved && host_busy)
      return Decisiveness(FindingKind::kHostBusy) - 1;
    return outvoted ? Decisiveness(FindingKind::kRankTail) - 1 : Decisiveness(finding.kind);
  };
  return *std::max_element(findings.begin(), findings.end(),
                           [&](const Finding& a, const Finding& b) {
                             if (weight(a) != weight(b)) return weight(a) < weight(b);
                             if (!IsRankTime(a.kind))
                               return false;  // of others the first one counts
                             return a.over == b.over ? a.effect < b.effect : a.over;
                           });
}

}  // namespace

Cause Judge(std::span<const Finding> findings, const signal::Topology& topology,
            double step_seconds) {
  const Finding& leader = LeaderOf(findings);
  const Rule& rule = RuleOf(leader.kind);
  Cause cause;
  cause.category = rule.category;
  cause.cause = rule.cause;
  cause.confidence = rule.confidence;
  cause.action = rule.action;
  cause.remedy = rule.remedy;
  cause.severity = rule.severity;
  if (leader.kind == FindingKind::kThreshold) NameRule(leader, cause);
  if (leader.kind == FindingKind::kRankError) cause.category = leader.category;
  AddUp(findings, step_seconds, cause);
  std::iter_swap(cause.evidence.begin(), cause.evidence.begin() + (&leader - findings.data()));
  if (rule.blames) cause.culprit_ranks = RanksOf(findings, leader);
  if (IsRankTime(leader.kind))
    cause.culprit_ranks = WithTheRestOfHosts(cause.culprit_ranks, topology);
  const bool most = 2 * cause.culprit_ranks.size() > topology.world() && topology.world() > 1;
  if (most) cause.culprit_ranks.clear();  // where most are concerned none is guilty
  cause.culprit_hosts = HostsOf(cause.culprit_ranks, leader, findings, topology);
  if (IsRankTime(leader.kind) && leader.phase != signal::Phase::kData) DoubtStage(topology, cause);
  if (leader.kind == FindingKind::kWaitSlow) DoubtNetwork(topology, cause);
  NameInput(leader, cause);
  if (leader.kind == FindingKind::kRankStarved || leader.kind == FindingKind::kBlind)
    cause.victim_ranks = RanksOf(findings, leader);
  if (!cause.culprit_ranks.empty()) {
    for (std::size_t r = 0; r < topology.world(); ++r) {
      const auto rank = static_cast<std::int32_t>(r);
      if (!std::binary_search(cause.culprit_ranks.begin(), cause.culprit_ranks.end(), rank)) {
        cause.victim_ranks.push_back(rank);
      }
    }
  }
  cause.summary = Sentence(cause, leader, topology);
  return cause;
}

}  // namespace ringward::diagnose
