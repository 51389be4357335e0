#include "replay/backtest.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "pipeline/pipeline.h"

namespace ringward::replay {
namespace {

constexpr double kSure = 0.5;
constexpr std::int64_t kGraceSteps = 10;

/// The causes that name a kind of fault rightly, and whom they must name.
struct Truth {
  FaultKind kind;
  std::vector<std::string_view> causes;
  bool names_ranks;  ///< the fault's ranks (or its hosts) are guilty; else nobody is
};

const Truth& TruthOf(FaultKind kind) {
  static const std::vector<Truth> kTruths = {
      {FaultKind::kSlowRank, {"slow-rank"}, true},
      {FaultKind::kIntermittent, {"intermittent-slow-rank"}, true},
      {FaultKind::kSlowLink, {"slow-link"}, true},
      {FaultKind::kSlowNetwork, {"slow-network"}, false},
      {FaultKind::kSlowInput, {"slow-input"}, true},
      {FaultKind::kUnevenData, {"uneven-data"}, false},
      {FaultKind::kUnevenPartition, {"uneven-partition"}, false},
      {FaultKind::kFreeze, {"rank-frozen", "rank-stalled"}, true},
      {FaultKind::kKill, {"killed"}, true},
      {FaultKind::kNan, {"non-finite"}, true},
      {FaultKind::kSpike, {"loss-spike", "gradient-explosion"}, false},
      {FaultKind::kLeak, {"memory-leak"}, true},
      {FaultKind::kClockSkew, {"clock-skew"}, true},
      {FaultKind::kLostReports, {"lost-reports"}, true},
      {FaultKind::kOddRows, {"unusual", "rank-apart"}, true},
  };
  return *std::find_if(kTruths.begin(), kTruths.end(),
                       [kind](const Truth& truth) { return truth.kind == kind; });
}

bool NamesTheGuilty(const signal::Cause& cause, const Fault& fault) {
  if (!TruthOf(fault.kind).names_ranks)
    return cause.culprit_ranks.empty() && cause.culprit_hosts.empty();
  if (!cause.culprit_hosts.empty()) return cause.culprit_hosts == fault.hosts;
  return cause.culprit_ranks == fault.ranks;
}

bool NamesTheKind(const signal::Cause& cause, const Fault& fault) {
  const auto& names = TruthOf(fault.kind).causes;
  // A loss that stays up is more than a spike.
  const bool lasting = fault.kind == FaultKind::kSpike && fault.length > kSpikeSteps;
  return (lasting && cause.cause == "loss-diverging") ||
         std::find(names.begin(), names.end(), cause.cause) != names.end();
}

bool IsInTime(const signal::Cause& cause, const Fault& fault) {
  return cause.found_step >= fault.onset - 1 && cause.found_step <= fault.end() + kGraceSteps;
}

void Take(const signal::Cause& cause, const Fault& fault, FaultOutcome& outcome) {
  outcome.found = true;
  outcome.told = cause.cause;
  outcome.right_culprit = NamesTheGuilty(cause, fault);
  outcome.right_kind = NamesTheKind(cause, fault);
  outcome.delay_steps = cause.found_step - fault.onset;
}

}  // namespace

Result<Backtest> RunBacktest(const JobOptions& job, const detect::DetectOptions& options) {
  pipeline::State state(options);
  Backtest result;
  std::map<std::uint64_t, signal::Cause> causes;  // as they stood last; the pipeline forgets some
  const auto keep = [&](std::vector<signal::Cause> told) {
    for (signal::Cause& cause : told) causes[cause.id] = std::move(cause);
  };
  signal::Time first{};
  signal::Time last{};
  const Clock& clock = SystemClock();
  const auto sink = [&](const signal::Event& event) -> Status {
    if (first == signal::Time{}) first = event.received;
    last = event.received;
    if (const auto* frame = std::get_if<signal::Frame>(&event.what)) {
      for (const signal::Column& column : frame->columns) result.samples += column.values.size();
    }
    const Clock::Duration start = clock.Now();
    pipeline::Outcome outcome = pipeline::Step(state, std::span(&event, 1), event.received);
    result.seconds_of_pipeline += std::chrono::duration<double>(clock.Now() - start).count();
    keep(std::move(outcome.causes));
    return Ok();
  };
  RINGWARD_TRY(SimulateJob(job, sink));
  keep(pipeline::Finish(state, last).causes);
  for (auto& [id, cause] : causes) result.causes.push_back(std::move(cause));
  result.seconds_of_job = signal::Seconds(last - first);
  return result;
}

RunScore ScoreRun(const std::vector<signal::Cause>& causes, const std::vector<Fault>& faults) {
  RunScore score;
  std::vector<const signal::Cause*> sure;
  for (const signal::Cause& cause : causes) {
    if (cause.confidence >= kSure) sure.push_back(&cause);
  }
  score.incidents = static_cast<std::int64_t>(sure.size());
  for (const Fault& fault : faults)
    score.faults.push_back({.kind = fault.kind, .severity = fault.severity});
  // Faults may overlap: what is told rightly goes to its fault first, what is left to any in time.
  for (const int right : {2, 1, 0}) {
    for (std::size_t f = 0; f < faults.size(); ++f) {
      if (score.faults[f].found) continue;
      const auto found = std::find_if(sure.begin(), sure.end(), [&](const signal::Cause* cause) {
        return IsInTime(*cause, faults[f]) &&
               NamesTheGuilty(*cause, faults[f]) + NamesTheKind(*cause, faults[f]) >= right;
      });
      if (found == sure.end()) continue;
      Take(**found, faults[f], score.faults[f]);
      sure.erase(found);
    }
  }
  score.false_incidents = static_cast<std::int64_t>(sure.size());
  return score;
}

}  // namespace ringward::replay
