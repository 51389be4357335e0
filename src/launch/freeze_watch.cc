#include "launch/freeze_watch.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "comm/suspect.h"

namespace ringward::launch {
namespace {

/// Between two looks at most this much counts as seen.
constexpr std::chrono::nanoseconds kLongestLook = std::chrono::seconds(1);

std::string Seconds(std::chrono::nanoseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", std::chrono::duration<double>(time).count());
  return text.data();
}

}  // namespace

FreezeWatch::FreezeWatch(const comm::Board& board, std::chrono::nanoseconds limit, std::string proc)
    : board_(board),
      limit_(limit),
      proc_(std::move(proc)),
      seen_(static_cast<std::size_t>(board.ranks())) {}

void FreezeWatch::LookAt(int rank, std::chrono::nanoseconds elapsed) {
  Seen& seen = seen_[static_cast<std::size_t>(rank)];
  const comm::RankStatus status = board_.Read(rank);
  const auto process = status.pid == 0 || status.ended.count() != 0
                           ? std::nullopt
                           : comm::ReadProcessStat(status.pid, proc_);
  const bool alive = process && process->start_time == status.start_time && process->state != 'Z' &&
                     process->state != 'X';
  const bool stopped = alive && (process->state == 'T' || process->state == 't');
  seen.stopped_for = stopped ? seen.stopped_for + elapsed : std::chrono::nanoseconds{};
  // A rank that ends stops its heartbeat shortly before its process is gone: that is no freeze.
  const bool due = alive && status.beat.count() != 0 && status.beat == seen.last_beat &&
                   status.state != comm::RankState::kFinished &&
                   status.state != comm::RankState::kFailed;
  seen.silent_for = due ? seen.silent_for + elapsed : std::chrono::nanoseconds{};
  seen.last_beat = status.beat;
}

std::vector<FreezeWatch::Frozen> FreezeWatch::Look(std::chrono::nanoseconds now) {
  const auto elapsed = last_look_.count() == 0 ? std::chrono::nanoseconds{}
                                               : std::min(now - last_look_, kLongestLook);
  last_look_ = now;
  for (int rank = 0; rank < board_.ranks(); ++rank) LookAt(rank, elapsed);
  const bool any_beats =
      board_.ranks() == 1 || std::any_of(seen_.begin(), seen_.end(), [](const Seen& seen) {
        return seen.last_beat.count() != 0 && seen.silent_for.count() == 0;
      });
  std::vector<Frozen> stopped;
  std::vector<Frozen> silent;
  for (int rank = 0; rank < board_.ranks(); ++rank) {
    const Seen& seen = seen_[static_cast<std::size_t>(rank)];
    if (seen.stopped_for >= limit_) {
      stopped.push_back({rank, "its process has been stopped for " + Seconds(seen.stopped_for) +
                                   " (SIGSTOP, or a debugger)"});
    } else if (any_beats && seen.silent_for >= limit_) {
      silent.push_back({rank, "it has had no heartbeat for " + Seconds(seen.silent_for)});
    }
  }
  return stopped.empty() ? silent : stopped;
}

}  // namespace ringward::launch
