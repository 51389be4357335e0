#include "launch/supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/exit_code.h"

namespace ringward::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kTick{50};
constexpr milliseconds kShortTick{2};    ///< while something is about to be known
constexpr milliseconds kLookEvery{200};  ///< between looks for frozen ranks
constexpr milliseconds kSettle{250};     ///< for a cause to show behind its consequences
constexpr milliseconds kSettleAtMost{2'000};
constexpr milliseconds kFailedGrace{1'000};

nanoseconds Now() { return SystemClock().Now(); }

}  // namespace

Supervisor::Supervisor(const JobSpec& spec, const comm::Board& board, std::vector<pid_t> children,
                       const Output& output, SignalGuard& signals)
    : spec_(spec),
      board_(board),
      children_(std::move(children)),
      output_(output),
      signals_(signals),
      freezes_(board, spec.collective_timeout),
      ranks_(static_cast<std::size_t>(spec.ranks)),
      started_(Now()) {}

Outcome Supervisor::Run() {
  while (true) {
    Observe();
    if (signals_.count() > 0) {
      Outcome outcome{.interrupted = true};
      if (spec_.on_interrupt) spec_.on_interrupt();
      outcome.ended = EndRanks(spec_.grace, -1);
      return outcome;
    }
    if (!output_.status()) {
      Outcome outcome;  // Output::status() says why
      outcome.ended = EndRanks(std::min(spec_.grace, kFailedGrace), -1);
      return outcome;
    }
    if (const auto failure = Detect()) {
      Outcome outcome{.failure = failure};
      outcome.ended = EndRanks(std::min(spec_.grace, kFailedGrace), failure->rank);
      return outcome;
    }
    if (HasFinished(Gather())) return {};
    Wait(failing_since_.count() == 0 ? kTick : kShortTick);
  }
}

/// Sleeps until a rank dies, a signal comes or `limit` passes.
void Supervisor::Wait(milliseconds limit) {
  std::vector<pollfd> wanted;
  for (const Rank& rank : ranks_) {
    if (rank.process) wanted.push_back({rank.process.get(), POLLIN, 0});
  }
  wanted.push_back({signals_.fd(), POLLIN, 0});
  // A rank seen dead whose parent has not yet written its status down.
  const bool status_due = std::any_of(ranks_.begin(), ranks_.end(), [&](const Rank& rank) {
    const auto index = static_cast<int>(&rank - ranks_.data());
    return rank.dead && Now() - rank.died < kSettle && !board_.Read(index).wait_status;
  });
  const milliseconds time = status_due ? kShortTick : limit;
  poll(wanted.data(), wanted.size(), static_cast<int>(time.count()));
  signals_.Drain();
}

void Supervisor::Observe() {
  ReapChildren();
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    Rank& rank = ranks_[i];
    if (rank.dead) continue;
    const comm::RankStatus status = board_.Read(static_cast<int>(i));
    if (!rank.known && status.pid != 0) {
      rank.known = true;
      rank.process = OpenProcess(status.pid, status.start_time);
    }
    if (!rank.known) continue;
    pollfd probe{rank.process.get(), POLLIN, 0};
    const bool gone = !rank.process || poll(&probe, 1, 0) > 0 || status.wait_status;
    if (!gone) continue;
    rank.dead = true;
    rank.died = Now();
    rank.process.reset();
  }
}

void Supervisor::ReapChildren() {
  std::erase_if(children_, [&](pid_t child) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) != child) return false;
    if (spec_.engine.engine == "mpi") mpirun_status_ = status;
    return true;
  });
}

Evidence Supervisor::Gather() const {
  Evidence evidence;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const Rank& rank = ranks_[i];
    evidence.ranks.push_back({board_.Read(static_cast<int>(i)), rank.dead,
                              rank.dead ? Now() - rank.died : nanoseconds{}});
  }
  evidence.verdict = board_.verdict();
  evidence.mpirun_status = mpirun_status_;
  return evidence;
}

/// Whether everything that will be known about a failure is known. A cause may become visible after
/// its consequences: peers of a killed rank notice at once, its parent is told when it is
/// scheduled.
bool Supervisor::Settled(const Evidence& evidence) {
  if (failing_since_.count() == 0) failing_since_ = Now();
  const nanoseconds failing = Now() - failing_since_;
  const bool named = evidence.verdict && evidence.verdict->culprit >= 0;
  const bool accused_self = named && evidence.verdict->accuser == evidence.verdict->culprit;
  const bool status_due =
      std::any_of(evidence.ranks.begin(), evidence.ranks.end(),
                  [&](const RankEvidence& rank) { return rank.dead && !rank.status.wait_status; });
  const bool mpirun_due =
      spec_.engine.engine == "mpi" && !evidence.mpirun_status && HangsOnMpirun(evidence);
  // Its exit status is the job's.
  if (accused_self) {
    const auto culprit = static_cast<std::size_t>(evidence.verdict->culprit);
    return evidence.ranks[culprit].status.wait_status || failing > kSettleAtMost;
  }
  if (named) return true;
  return failing > (status_due || mpirun_due ? kSettleAtMost : kSettle);
}

std::optional<Failure> Supervisor::Detect() {
  Evidence evidence = Gather();
  if (HasFailed(evidence)) {
    if (!Settled(evidence)) return std::nullopt;
    // At the settled time, with all there is to see.
    evidence.suspicion = comm::Suspect(board_, Now());
    return Blame(evidence);
  }
  if (auto late = DetectLate()) return late;
  return DetectFrozen();
}

std::optional<Failure> Supervisor::DetectFrozen() {
  const nanoseconds now = Now();
  if (spec_.collective_timeout.count() == 0 || now < next_look_) return std::nullopt;
  next_look_ = now + kLookEvery;
  const auto frozen = freezes_.Look(now);
  if (frozen.size() == 1) {
    const int rank = frozen.front().rank;
    const comm::RankStatus status = board_.Read(rank);
    const std::string where = Whereabouts(status);
    return Failure{rank,
                   "rank " + std::to_string(rank) + " (pid " + std::to_string(status.pid) +
                       ") is frozen" + (where.empty() ? "" : " " + where) + ": " +
                       frozen.front().why,
                   kExitCouldNotRun, false};
  }
  if (!frozen.empty()) {
    std::string names;
    for (const auto& one : frozen) names += (names.empty() ? "" : ", ") + std::to_string(one.rank);
    return Failure{-1, "ranks " + names + " are frozen; of the first, " + frozen.front().why,
                   kExitCouldNotRun, false};
  }
  if (spec_.engine.engine != "mpi" || children_.empty()) return std::nullopt;
  const auto mpirun = comm::ReadProcessStat(children_.front());
  const bool stopped = mpirun && (mpirun->state == 'T' || mpirun->state == 't');
  mpirun_stopped_ = stopped ? mpirun_stopped_ + kLookEvery : nanoseconds{};
  if (mpirun_stopped_ < spec_.collective_timeout) return std::nullopt;
  return Failure{-1, "mpirun (pid " + std::to_string(children_.front()) + ") is stopped",
                 kExitCouldNotRun, false};
}

/// A rank that has not joined the group when its time is up.
std::optional<Failure> Supervisor::DetectLate() const {
  if (!spec_.reports_to_board || spec_.start_timeout.count() == 0) return std::nullopt;
  if (Now() - started_ < spec_.start_timeout) return std::nullopt;
  std::vector<int> late;
  for (int rank = 0; rank < spec_.ranks; ++rank) {
    const comm::RankState state = board_.Read(rank).state;
    if (state == comm::RankState::kAbsent || state == comm::RankState::kStarting) {
      late.push_back(rank);
    }
  }
  if (late.empty()) return std::nullopt;
  const std::string limit = std::to_string(spec_.start_timeout.count() / 1000) + " s";
  if (late.size() == 1) {
    return Failure{
        late.front(),
        "rank " + std::to_string(late.front()) + " has not joined the others within " + limit,
        kExitCouldNotRun, false};
  }
  return Failure{-1,
                 std::to_string(late.size()) + " of " + std::to_string(spec_.ranks) +
                     " ranks have not joined the others within " + limit,
                 kExitCouldNotRun, false};
}

bool Supervisor::AllDead() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const Rank& rank) { return rank.dead || !rank.known; });
}

void Supervisor::Signal(int signal, bool only_stopped) {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (!ranks_[i].process) continue;
    if (only_stopped) {
      const auto process = comm::ReadProcessStat(board_.Read(static_cast<int>(i)).pid);
      if (!process || (process->state != 'T' && process->state != 't')) continue;
    }
    syscall(SYS_pidfd_send_signal, ranks_[i].process.get(), signal, nullptr, 0);
  }
}

/// SIGTERM, and after `grace` (or another signal from the user) SIGKILL. Stopped ranks cannot act
/// on SIGTERM and are killed at once. What else belongs to the job is killed with its folder.
/// Returns how many ranks other than the culprit were there to be ended.
int Supervisor::EndRanks(milliseconds grace, int culprit) {
  int others = 0;
  for (int rank = 0; rank < spec_.ranks; ++rank) {
    // A rank that gave up because of the culprit was ended by the failure as well.
    const comm::RankStatus status = board_.Read(rank);
    if (rank != culprit && status.pid != 0 && status.wait_status != 0) ++others;
  }
  const int signals_before = signals_.count();
  Signal(SIGTERM, false);
  Signal(SIGKILL, true);
  const nanoseconds end = Now() + grace;
  while (!AllDead() && Now() < end && signals_.count() == signals_before) {
    Wait(std::min(kTick, std::chrono::ceil<milliseconds>(end - Now())));
    Observe();
  }
  Signal(SIGKILL, false);
  return others;
}

}  // namespace ringward::launch
