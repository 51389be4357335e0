#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/horovod_timeline/object_cutter.h"
#include "ingest/horovod_timeline/rounds.h"

namespace ringward::ingest {

/// What became of a timeline's records.
struct TimelineCounts {
  std::uint64_t used = 0;
  std::uint64_t other = 0;         ///< of no interest, or the end of something that never began
  std::uint64_t malformed = 0;     ///< no JSON, or fields that no record has
  std::string first_malformed;     ///< `17: what`; empty: none
  std::uint64_t tensors_lost = 0;  ///< records of tensors beyond those that are kept apart
};

/// Reads Horovod's timeline (HOROVOD_TIMELINE) as it grows: every generation of it, whole or torn.
/// A round is a step: it ends where a tensor of it is negotiated again. Tensors without names,
/// whose names never come again, end rounds only as long as no other does.
///
/// Who was late is known from the ticks of ranks in NEGOTIATE_*. Horovod writes none for what its
/// response cache holds (from the second step on, unless HOROVOD_CACHE_CAPACITY=0): then a round
/// says how long all ranks took together, and nothing of any one of them.
///
/// Memory: kTensorsMost tensors, kTicksMost ticks of collectives under way, one record, and the
/// rounds that were not taken. Not safe for concurrent use.
class HorovodTimeline {
 public:
  static constexpr std::size_t kTensorsMost = std::size_t{1} << 16U;
  static constexpr std::size_t kTicksMost = std::size_t{1} << 22U;
  static constexpr std::int32_t kRanksMost = 1 << 16;
  /// Rounds in a row without a tick, after which the timeline is said to have none.
  static constexpr std::int64_t kBlindRounds = 20;

  /// The next bytes of the file, cut anywhere.
  void Feed(std::string_view bytes);
  /// The file was begun anew: nothing of it is known. Counts go on.
  void Restart();

  /// Rounds that have ended since the last call, in order.
  std::vector<TimelineRound> Take() { return rounds_.Take(); }

  /// Ranks that were seen to come to collectives: the highest + 1. 0: none yet.
  std::size_t world() const { return static_cast<std::size_t>(world_); }
  /// Wall clock at time 0, by the host of rank 0, where the file tells it.
  std::optional<std::chrono::microseconds> began() const { return began_; }
  TimelineTime newest() const { return newest_; }  ///< time of the last record
  std::int64_t round() const { return rounds_.number(); }
  bool lacks_ticks() const { return rounds_.blind_rounds() >= kBlindRounds; }

  /// Where a rank stands.
  enum class Place : std::uint8_t {
    kUnknown,
    kOutside,  ///< others wait for it in a collective that it has not come to
    kInside,   ///< it has come to all that others have
  };
  /// [world()]; all kUnknown where no collective is under way, or nobody was seen to come. What
  /// only some ranks do together (process sets) tells nothing of the others.
  std::vector<Place> Standing() const;

  const TimelineCounts& counts() const { return counts_; }

 private:
  enum class Stage : std::uint8_t { kIdle, kNegotiating, kReady, kRunning };
  struct Tensor {
    std::int64_t round = -1;  ///< the last that it was part of
    Stage stage = Stage::kIdle;
    int depth = 0;            ///< of nested activities, while running
    bool only_meets = false;  ///< a barrier: nothing runs after the negotiation
    bool passing = false;     ///< its name will not come again
    std::size_t usual = 0;    ///< ranks that came to it the last time
    std::vector<std::int32_t> came{};
  };
  struct Record;

  void TakeObject(std::string_view text);
  void Malformed(std::uint64_t line, const std::string& what);
  bool MoveTime(std::int64_t ts);
  void OnName(const Record& record);
  void OnBegin(const Record& record);
  void OnEnd(const Record& record);
  void OnTick(const Record& record);
  Tensor* Find(std::int64_t pid);
  void ForgetOld();
  void Enter(std::int64_t pid, Tensor& tensor);
  void AllCame(Tensor& tensor);
  void Complete(std::int64_t pid, Tensor& tensor);

  ObjectCutter cutter_;
  std::uint64_t garbage_told_ = 0;
  Rounds rounds_;
  std::map<std::int64_t, Tensor> tensors_;  ///< by the number that stands for the name: "pid"
  std::set<std::int64_t> under_way_;        ///< pids
  std::int64_t passing_round_ = -1;         ///< the last that a tensor without a name was part of
  bool named_rounds_ = false;               ///< a tensor with a name has ended one
  std::size_t ticks_held_ = 0;
  std::int32_t world_ = 0;
  std::int32_t highest_tick_ = -1;
  std::optional<std::chrono::microseconds> began_;
  TimelineTime newest_{};
  bool any_time_ = false;
  TimelineCounts counts_;
};

}  // namespace ringward::ingest
