#include "watch/tails/tail_source.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"

namespace ringward::watch {
namespace {

constexpr std::size_t kLookBytes = std::size_t{4} << 20U;
constexpr std::chrono::milliseconds kLookEvery{250};

}  // namespace

TailSource::TailSource(TailOptions options, Source& base, bool shows_base, const Clock& clock)
    : options_(std::move(options)),
      base_(base),
      shows_base_(shows_base),
      clock_(clock),
      buffer_(kLookBytes),
      timeline_file_(options_.timeline),
      grew_(clock.Now()) {}

void TailSource::SayTrouble() {
  const std::string& trouble = timeline_file_.trouble();
  if (!trouble.empty() && trouble != said_trouble_)
    LogWarning("not watched: " + timeline_file_.path() + ": " + trouble);
  said_trouble_ = trouble;
  if (!timeline_.lacks_ticks() || said_ticks_) return;
  said_ticks_ = true;
  LogWarning(timeline_file_.path() +
             ": this timeline holds no per-rank ticks, so it tells that somebody is late and not "
             "who; HOROVOD_CACHE_CAPACITY=0 gives them");
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
  const std::size_t world = std::max(options_.world, timeline_.world());
  const Clock::Duration now = clock_.Now();
  const bool idle = options_.idle > Clock::Duration{} && now - grew_ >= options_.idle;
  const bool changed = shown_world_ != 0 && shown_world_ != world;
  if (changed || (idle && shown_world_ != 0) || (by_base_ && shown_world_ != 0)) {
    auto ended = EndShown();
    std::move(ended.begin(), ended.end(), std::back_inserter(sights));
    return;
  }
  if (world == 0 || idle || by_base_) return;
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
  if (ReadTimeline()) grew_ = clock_.Now();
  std::vector<RankSight> sights;
  if (shows_base_) sights = base_.Look();
  by_base_ = by_base_ || std::any_of(sights.begin(), sights.end(), [&](const RankSight& sight) {
               return sight.who.job == options_.job;
             });
  // The job as the timeline showed it ends first; that costs one look at the ranks themselves.
  if (by_base_ && shown_world_ != 0)
    std::erase_if(sights, [&](const RankSight& sight) { return sight.who.job == options_.job; });
  AddOwn(sights);
  if (by_base_) timeline_.Take();
  return sights;
}

void TailSource::Wait(Clock::Duration until) {
  if (!behind_) base_.Wait(std::min(until, clock_.Now() + kLookEvery));
}

}  // namespace ringward::watch
