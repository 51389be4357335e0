#include "comm/suspect.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <utility>
#include <vector>

namespace ringward::comm {
namespace {

struct Seen {
  int rank;
  RankStatus status;
  std::optional<ProcessStat> process;

  bool known() const { return status.pid != 0; }
  bool unfinished() const {
    return status.state != RankState::kFinished && status.state != RankState::kFailed;
  }
  bool alive() const {
    return process && process->state != 'Z' && process->state != 'X' &&
           (status.start_time == 0 || process->start_time == status.start_time);
  }
  bool stopped() const { return alive() && (process->state == 'T' || process->state == 't'); }
};

using Ranks = std::vector<const Seen*>;

std::string Name(const Ranks& ranks) {
  std::string names;
  for (const Seen* seen : ranks) {
    names += (names.empty() ? "" : ", ") + std::to_string(seen->rank);
  }
  return names;
}

/// One rank: the culprit. Several: undecided, and who.
Suspicion Blame(Ground ground, const Ranks& ranks, const std::string& one,
                const std::string& many) {
  if (ranks.size() == 1) return {ranks.front()->rank, ground, one};
  return {-1, ground, "ranks " + Name(ranks) + " " + many};
}

std::string Seconds(std::chrono::nanoseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", std::chrono::duration<double>(time).count());
  return text.data();
}

Ranks Select(const std::vector<Seen>& all, const std::function<bool(const Seen&)>& wanted) {
  Ranks chosen;
  for (const Seen& seen : all) {
    if (wanted(seen)) chosen.push_back(&seen);
  }
  return chosen;
}

Suspicion SuspectGone(const std::vector<Seen>& all) {
  const Ranks gone =
      Select(all, [](const Seen& s) { return s.known() && s.unfinished() && !s.alive(); });
  if (gone.empty()) return {};
  return Blame(Ground::kGone, gone,
               "its process " + std::to_string(gone.front()->status.pid) + " is gone",
               "have lost their processes");
}

Suspicion SuspectLeft(const std::vector<Seen>& all) {
  std::uint64_t furthest = 0;
  for (const Seen& s : all) furthest = std::max(furthest, s.status.entered);
  const Ranks left = Select(all, [&](const Seen& s) {
    return s.status.state == RankState::kFinished && s.status.entered < furthest;
  });
  if (left.empty()) return {};
  return Blame(Ground::kLeft, left,
               "it finished after " + std::to_string(left.front()->status.entered) +
                   " collectives while others wait in number " + std::to_string(furthest),
               "finished while others go on");
}

Suspicion SuspectStopped(const std::vector<Seen>& all) {
  const Ranks stopped = Select(all, [](const Seen& s) { return s.unfinished() && s.stopped(); });
  if (stopped.empty()) return {};
  return Blame(Ground::kStopped, stopped,
               "its process " + std::to_string(stopped.front()->status.pid) + " is stopped",
               "are stopped");
}

Suspicion SuspectSilent(const std::vector<Seen>& all, std::chrono::nanoseconds now,
                        std::chrono::nanoseconds silent_after) {
  const auto beats = [](const Seen& s) { return s.unfinished() && s.status.beat.count() != 0; };
  const Ranks beating = Select(all, beats);
  const Ranks silent =
      Select(all, [&](const Seen& s) { return beats(s) && now - s.status.beat > silent_after; });
  // All silent: the machine slept or is overloaded, which no rank is to blame for.
  if (silent.empty() || (silent.size() == beating.size() && silent.size() > 1)) return {};
  return Blame(Ground::kSilent, silent,
               "no heartbeat for " + Seconds(now - silent.front()->status.beat),
               "have no heartbeat");
}

Suspicion SuspectAbsent(const std::vector<Seen>& all) {
  const Ranks absent = Select(all, [](const Seen& s) { return !s.known(); });
  if (absent.empty() || absent.size() == all.size()) return {};
  return Blame(Ground::kAbsent, absent, "it has not started", "have not started");
}

Suspicion SuspectBehind(const std::vector<Seen>& all) {
  const Ranks there =
      Select(all, [](const Seen& s) { return s.unfinished() && s.known() && s.alive(); });
  if (there.size() < 2) return {};
  const auto order = [](const Seen* a, const Seen* b) {
    return a->status.entered < b->status.entered;
  };
  const auto [low, high] = std::minmax_element(there.begin(), there.end(), order);
  const std::uint64_t least = (*low)->status.entered;
  if (least == (*high)->status.entered) return {};
  const Ranks behind = Select(all, [&](const Seen& s) {
    return s.unfinished() && s.known() && s.alive() && s.status.entered == least;
  });
  return Blame(Ground::kBehind, behind,
               "it is still at its own work after collective " + std::to_string(least) +
                   "; others wait in number " + std::to_string((*high)->status.entered) + " (" +
                   (*high)->status.operation + ")",
               "are still at their own work");
}

}  // namespace

std::optional<ProcessStat> ReadProcessStat(std::int32_t pid, const std::string& proc) {
  std::ifstream file(proc + "/" + std::to_string(pid) + "/stat");
  // A process may end between opening and reading; getline() makes no exception of it, as iterators
  // over the buffer do.
  std::string text;
  std::getline(file, text, '\0');
  // The name in parentheses may hold anything, parentheses and spaces too.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(text.substr(name_end + 1));
  ProcessStat stat;
  rest >> stat.state >> stat.parent;
  std::string skipped;
  const auto skip = [&](int fields) {  // numbered as in proc(5)
    for (int i = 0; i < fields; ++i) rest >> skipped;
  };
  skip(9);
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  rest >> user >> system;
  stat.cpu_ticks = user + system;
  skip(6);
  rest >> stat.start_time;
  if (!rest) return std::nullopt;
  return stat;
}

Suspicion Suspect(const Board& board, std::chrono::nanoseconds now, const SuspectOptions& options) {
  std::vector<Seen> all;
  for (int rank = 0; rank < board.ranks(); ++rank) {
    Seen seen{rank, board.Read(rank), std::nullopt};
    if (seen.known()) seen.process = ReadProcessStat(seen.status.pid, options.proc);
    all.push_back(std::move(seen));
  }
  for (Suspicion found :
       {SuspectGone(all), SuspectLeft(all), SuspectStopped(all),
        SuspectSilent(all, now, options.silent_after), SuspectAbsent(all), SuspectBehind(all)}) {
    if (found.ground != Ground::kNone) return found;
  }
  return {-1, Ground::kNone, "every rank is alive and waits in the same collective"};
}

}  // namespace ringward::comm
