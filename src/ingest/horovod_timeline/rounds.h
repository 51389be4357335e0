#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace ringward::ingest {

using TimelineTime = std::chrono::microseconds;  ///< since the timeline began

/// One step of a job, as far as its collectives tell: each of them once.
struct TimelineRound {
  std::int64_t number = 0;  ///< from 0
  TimelineTime begin{};     ///< when the last collective of the round before had ended
  TimelineTime end{};       ///< when the last of this one had
  TimelineTime transfer{};  ///< of it, while all ranks were inside collectives
  /// How much later than the first rank each came, in the collective where that was most; [ranks
  /// that ever came]. kUnknown: it came to none, or nobody saw it come. Empty: of no rank is known
  /// when it came.
  std::vector<TimelineTime> late;
  static constexpr TimelineTime kUnknown{-1};

  /// What each of `world` ranks waited: the transfer, and for the last to come; ranks of which
  /// nothing is known wait as long as the median of the others.
  std::vector<TimelineTime> Waits(std::size_t world) const;
};

/// Makes rounds of when ranks come to collectives and when these end.
///
/// A rank works until it comes to a collective, and then it may go on working, or wait there; a
/// timeline does not tell which. So a round is cut where no collective is under way, and in each
/// part the ranks are compared by when they came to the last one. The lateness of a rank is that of
/// its worst part, not the sum of all: a rank that stays behind by the same time in each of many
/// collectives, working on all the while, is late once. Where ranks do wait in each, this tells too
/// little, but of the right rank. Memory: a few numbers a rank. Not safe for concurrent use.
class Rounds {
 public:
  void RankCame(std::int32_t rank, TimelineTime at);
  /// All ranks have come to a collective.
  void AllCame(TimelineTime at) { all_came_ = at; }
  /// No collective is under way any more.
  void Quiet(TimelineTime at);
  /// The round has ended; `quiet`: no collective is under way.
  void End(TimelineTime at, bool quiet);
  /// Time has jumped: what was under way is of no use.
  void Skip(TimelineTime at);

  std::vector<TimelineRound> Take();
  std::int64_t number() const { return number_; }
  /// Rounds in a row, up to the last, in which no rank was seen to come.
  std::int64_t blind_rounds() const { return blind_rounds_; }

 private:
  void EndPart(TimelineTime at);

  std::vector<TimelineTime> came_;  ///< of this part, by rank; kUnknown: not
  std::vector<TimelineTime> late_;  ///< of this round, by rank
  std::int32_t came_count_ = 0;     ///< in this part
  TimelineTime all_came_{-1};       ///< in this part, to the last; -1: not
  TimelineTime transfer_{};
  TimelineTime begin_{-1};
  TimelineTime quiet_{-1};  ///< when last no collective was under way
  bool any_late_ = false;
  std::int64_t number_ = 0;
  std::int64_t blind_rounds_ = 0;
  std::vector<TimelineRound> ended_;
};

}  // namespace ringward::ingest
