#include "watch/tails/file_events.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "io/byte_source.h"
#include "watch/job_events.h"
#include "watch/tails/log_tails.h"
#include "watch/tails/timeline_ranks.h"

namespace ringward::watch {
namespace {

constexpr std::size_t kPieceLeast = std::size_t{4} << 10U;
constexpr std::size_t kPieceMost = std::size_t{1} << 20U;
constexpr std::size_t kPiecePerRank = std::size_t{1} << 10U;

/// Makes events of the sights of one job whose time is told, not read from a clock.
class Maker {
 public:
  Maker(std::string job, std::size_t world) : job_(std::move(job)), least_world_(world) {}

  /// What the timeline has come to by its newest record.
  void Look(ingest::HorovodTimeline& timeline) {
    Follow(timeline.world());
    if (!events_of_) return;
    const Clock::Duration began = timeline.began().value_or(std::chrono::microseconds{});
    now_ = std::max(now_, Clock::Duration(timeline.newest()));
    wall_ = std::max(wall_, began + now_);
    Take(ranks_.Sights(timeline, world_, now_));
  }
  /// What logs say of ranks below `world`.
  void Say(std::vector<signal::LogLine> lines, std::size_t world) {
    if (!events_of_) Follow(world);
    if (!events_of_) return;
    std::vector<RankSight> sights(world_);
    sights.front().said = std::move(lines);
    Take(std::move(sights));
  }
  std::vector<signal::Event> End() {
    if (events_of_) TakeEnd();
    return std::move(events_);
  }

 private:
  void Follow(std::size_t seen) {
    const std::size_t world = std::max(least_world_, seen);
    if (world == 0 || world == world_) return;
    if (events_of_) TakeEnd();
    world_ = world;
    events_of_.emplace(JobRun{.name = job_, .world = static_cast<std::int32_t>(world)});
  }
  void TakeEnd() {
    std::vector<RankSight> sights(world_);
    for (RankSight& sight : sights) sight.ended = sight.state.closed = true;
    Take(std::move(sights));
  }
  void Take(std::vector<RankSight> sights) {
    for (RankSight& sight : sights) {
      sight.who = {.job = job_,
                   .rank = static_cast<std::int32_t>(&sight - sights.data()),
                   .world = static_cast<std::int32_t>(world_)};
      sight.looked = now_;
      sight.cpu_ticks = ++looks_;
    }
    auto events = events_of_->Take(sights, now_, wall_);
    std::move(events.begin(), events.end(), std::back_inserter(events_));
  }

  std::string job_;
  std::size_t least_world_;
  std::size_t world_ = 0;
  std::optional<JobEvents> events_of_;
  TimelineRanks ranks_;
  Clock::Duration now_{};
  signal::Time wall_{};
  std::uint64_t looks_ = 0;
  std::vector<signal::Event> events_;
};

Status ReadTimeline(const JobFiles& files, Maker& maker, JobFilesRead& read) {
  RINGWARD_ASSIGN(const auto source, io::OpenInput(files.timeline));
  ingest::HorovodTimeline timeline;
  std::vector<char> buffer(kPieceMost);
  while (true) {
    // Pieces are looks: small ones tell stalls apart, large ones are fewer for many ranks.
    const std::size_t piece = std::clamp(kPiecePerRank * timeline.world(), kPieceLeast, kPieceMost);
    RINGWARD_ASSIGN(const std::size_t got, source->Read(std::span(buffer).first(piece)));
    if (got == 0) break;
    timeline.Feed(std::string_view(buffer.data(), got));
    maker.Look(timeline);
  }
  read.timeline = timeline.counts();
  read.lacks_ticks = timeline.lacks_ticks();
  return Ok();
}

Status ReadLog(const std::string& file, ingest::RankLog& log) {
  RINGWARD_ASSIGN(const auto source, io::OpenInput(file));
  std::vector<char> buffer(kPieceMost);
  while (true) {
    RINGWARD_ASSIGN(const std::size_t got, source->Read(buffer));
    if (got == 0) break;
    log.Feed(std::string_view(buffer.data(), got));
  }
  log.Finish();
  return Ok();
}

}  // namespace

Result<std::vector<signal::Event>> EventsOfFiles(const JobFiles& files, JobFilesRead& read) {
  Maker maker("job", files.world);
  if (!files.timeline.empty()) RINGWARD_TRY(ReadTimeline(files, maker, read));
  std::vector<signal::LogLine> lines;
  std::int32_t highest = -1;
  for (const std::string& file : files.logs) {
    ingest::RankLog log(ingest::RankOfFile(file));
    RINGWARD_TRY(ReadLog(file, log));
    highest = std::max(highest, log.highest_rank());
    for (ingest::LogWord& word : log.Take()) {
      if (!word.ranks.empty()) highest = std::max(highest, word.ranks.back());
      lines.push_back(LogLineOf(std::move(word), file));
    }
    read.logs.push_back(log.counts());
  }
  maker.Say(std::move(lines), static_cast<std::size_t>(highest + 1));
  return maker.End();
}

}  // namespace ringward::watch
