#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "watch/source.h"
#include "watch/tails/file_tail.h"
#include "watch/tails/log_tails.h"
#include "watch/tails/timeline_ranks.h"

namespace ringward::watch {

struct TailOptions {
  std::string job;                ///< what the job of the files is called
  std::string timeline;           ///< Horovod's; empty: none
  std::vector<std::string> logs;  ///< of its ranks: files, and patterns of them
  std::size_t world = 0;          ///< ranks; 0: as many as the files tell
  /// The job has ended when no file has grown for so long; 0: never.
  Clock::Duration idle{};
};

/// One job as the files that it writes show it: a Horovod timeline and logs that grow. Where ranks
/// of the job of that name are seen by `base`, they tell more: then nothing is taken from the
/// timeline, so that no step counts twice; what logs say goes with those ranks. What `base` shows
/// of other jobs is passed on. Not safe for concurrent use.
class TailSource final : public Source {
 public:
  /// `base` and `clock` outlive it. `shows_base`: look there; else `base` only waits.
  TailSource(TailOptions options, Source& base, bool shows_base, const Clock& clock);
  std::vector<RankSight> Look() override;
  void Wait(Clock::Duration until) override;
  /// The files have been read, do not grow any more, and what they told has ended.
  bool ended() const { return finished_ && any_bytes_ && shown_world_ == 0; }

 private:
  /// Reads what is new, at most kLookBytes; true where anything was.
  bool ReadTimeline();
  bool ReadLogs();
  void SayTrouble();
  void AddOwn(std::vector<RankSight>& sights);
  std::vector<RankSight> EndShown();
  std::size_t World() const;
  bool IsSettled() const;
  void Finish();
  void Say(std::vector<RankSight>& sights);

  TailOptions options_;
  Source& base_;
  bool shows_base_;
  const Clock& clock_;
  std::vector<char> buffer_;
  FileTail timeline_file_;
  ingest::HorovodTimeline timeline_;
  TimelineRanks ranks_;
  LogTails logs_;
  std::vector<signal::LogLine> lines_;         ///< not given yet
  std::optional<Clock::Duration> first_rank_;  ///< when files told of one
  std::uint64_t looks_ = 0;
  std::uint64_t run_ = 0;        ///< of the job in the files: another after its ranks have changed
  std::size_t shown_world_ = 0;  ///< ranks that were shown and have not ended; 0: none
  bool by_base_ = false;         ///< ranks of this job are seen there
  bool behind_ = false;          ///< there may be more to read at once
  Clock::Duration grew_{};       ///< when a file did last
  bool any_bytes_ = false;       ///< were ever read
  bool finished_ = false;        ///< it grows no more, and logs have been asked for the rest
  bool said_ticks_ = false;
  std::string said_trouble_;
};

}  // namespace ringward::watch
