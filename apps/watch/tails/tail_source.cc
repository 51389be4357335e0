#include "watch/tails/tail_source.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "watch/tails/ticks_note.h"

namespace ringward::watch {
namespace {

constexpr std::size_t kLookBytes = std::size_t{4} << 20U;
constexpr std::chrono::milliseconds kLookEvery{250};
/// So long after the first line of a rank the others have begun to print, too.
constexpr std::chrono::seconds kAllPrint{2};
/// What logs said before any rank is seen.
constexpr std::size_t kLinesMost = 10'000;

}  // namespace

TailSource::TailSource(TailOptions options, Source& base, bool shows_base, const Clock& clock)
    : options_(std::move(options)),
      base_(base),
      shows_base_(shows_base),
      clock_(clock),
      buffer_(kLookBytes),
      timeline_file_(options_.timeline),
      logs_(options_.logs),
      grew_(clock.Now()) {}

void TailSource::SayTrouble() {
  const std::string& trouble = timeline_file_.trouble();
  if (!trouble.empty() && trouble != said_trouble_)
    LogWarning("not watched: " + timeline_file_.path() + ": " + trouble);
  said_trouble_ = trouble;
  if (!timeline_.lacks_ticks() || said_ticks_) return;
  said_ticks_ = true;
  LogWarning(timeline_file_.path() + ": " + kNoTicks);
}

bool TailSource::ReadTimeline() {
  if (options_.timeline.empty()) return false;
  const FileTail::Piece piece = timeline_file_.Read(buffer_);
  if (piece.anew) {
    timeline_.Restart();
    ranks_.Restart();
  }
  timeline_.Feed(piece.bytes);
  SayTrouble();
  behind_ = behind_ || piece.bytes.size() == buffer_.size();
  return !piece.bytes.empty();
}

bool TailSource::ReadLogs() {
  const LogTails::Growth growth = logs_.Read(buffer_, clock_.Now());
  behind_ = behind_ || growth.more;
  for (signal::LogLine& line : logs_.Take()) {
    if (lines_.size() < kLinesMost) lines_.push_back(std::move(line));
  }
  return growth.any;
}

/// Ranks are those that come to collectives, where that is known; else those that speak or are
/// spoken of.
std::size_t TailSource::World() const {
  std::size_t world = std::max(options_.world, timeline_.world());
  if (world > 0) return world;
  world = std::max(logs_.world(), shown_world_);
  for (const signal::LogLine& line : lines_) {
    for (const std::int32_t rank : line.ranks)
      world = std::max(world, static_cast<std::size_t>(rank) + 1);
  }
  return world;
}

bool TailSource::IsSettled() const {
  if (options_.world > 0 || timeline_.world() > 0 || finished_) return true;
  return first_rank_ && !behind_ && clock_.Now() - *first_rank_ >= kAllPrint;
}

void TailSource::Finish() {
  logs_.Finish();
  for (signal::LogLine& line : logs_.Take()) lines_.push_back(std::move(line));
  if (any_bytes_ && World() == 0)
    LogWarning("nothing is watched: the files of job " + options_.job + " tell of no rank");
}

/// Gives what logs say to one of the job's ranks.
void TailSource::Say(std::vector<RankSight>& sights) {
  const auto own = std::find_if(sights.begin(), sights.end(), [&](const RankSight& sight) {
    return sight.who.job == options_.job && !sight.blind;
  });
  if (own != sights.end()) own->said = std::exchange(lines_, {});
}

/// The ranks that were shown, for the last time.
std::vector<RankSight> TailSource::EndShown() {
  std::vector<RankSight> sights(shown_world_);
  for (std::size_t rank = 0; rank < sights.size(); ++rank) {
    RankSight& sight = sights[rank];
    sight.who = {.job = options_.job,
                 .rank = static_cast<std::int32_t>(rank),
                 .world = static_cast<std::int32_t>(shown_world_),
                 .start_time = run_};
    sight.looked = clock_.Now();
    sight.ended = sight.state.closed = true;
  }
  ++run_;
  shown_world_ = 0;
  return sights;
}

void TailSource::AddOwn(std::vector<RankSight>& sights) {
  const std::size_t world = World();
  const Clock::Duration now = clock_.Now();
  if (world > 0 && !first_rank_) first_rank_ = now;
  // What the logs still had to say is given before the ranks end.
  const bool idle = finished_ && lines_.empty();
  const bool changed = shown_world_ != 0 && shown_world_ != world;
  if (changed || (idle && shown_world_ != 0) || (by_base_ && shown_world_ != 0)) {
    auto ended = EndShown();
    std::move(ended.begin(), ended.end(), std::back_inserter(sights));
    return;
  }
  if (world == 0 || idle || by_base_ || !IsSettled()) return;
  shown_world_ = world;
  std::vector<RankSight> own = ranks_.Sights(timeline_, world, now);
  for (RankSight& sight : own) {
    sight.who = {.job = options_.job,
                 .rank = static_cast<std::int32_t>(&sight - own.data()),
                 .world = static_cast<std::int32_t>(world),
                 .start_time = run_};
    // Whether its process works is not seen: it counts as at work.
    sight.cpu_ticks = looks_;
    sights.push_back(std::move(sight));
  }
}

std::vector<RankSight> TailSource::Look() {
  ++looks_;
  behind_ = false;
  const bool grew = ReadTimeline();
  if (ReadLogs() || grew) {
    grew_ = clock_.Now();
    any_bytes_ = true;
    finished_ = false;
  } else if (options_.idle > Clock::Duration{} && clock_.Now() - grew_ >= options_.idle) {
    if (!std::exchange(finished_, true)) Finish();
  }
  std::vector<RankSight> sights;
  if (shows_base_) sights = base_.Look();
  by_base_ = by_base_ || std::any_of(sights.begin(), sights.end(), [&](const RankSight& sight) {
               return sight.who.job == options_.job;
             });
  // The job as the timeline showed it ends first; that costs one look at the ranks themselves.
  if (by_base_ && shown_world_ != 0)
    std::erase_if(sights, [&](const RankSight& sight) { return sight.who.job == options_.job; });
  AddOwn(sights);
  Say(sights);
  if (by_base_) timeline_.Take();
  return sights;
}

void TailSource::Wait(Clock::Duration until) {
  if (!behind_) base_.Wait(std::min(until, clock_.Now() + kLookEvery));
}

}  // namespace ringward::watch
