#pragma once

#include <cstdint>
#include <map>

namespace ringward::watch {

/// Tells which steps of a job's ranks are of the training under way. The same processes may train
/// more than once, counting from an earlier step each time: another training begins when most of
/// the ranks that are there do so. One that does so alone (it took the place of a rank that ended,
/// or what it tells is garbage) is apart from the others until it is where they are; it cannot
/// begin anything for them. Not safe for concurrent use.
class Trainings {
 public:
  enum class Answer : std::uint8_t {
    kCounts,  ///< of the training under way
    kApart,   ///< of the next one, if the others follow
    kPassed,  ///< of the one before, or no new step
    kBegins,  ///< the first that counts of another training: so do those that were apart
  };

  /// A rank of this process is there, or not (gone, or out of sight). All are not at first.
  void SetThere(std::int32_t rank, bool there) { ranks_[rank].there = there; }
  /// A rank is there as another process than before.
  void Replace(std::int32_t rank) { ranks_[rank] = {.where = Where::kApart, .there = true}; }
  /// The rank has ended that step; `newest` is the newest that most have ended, -1 where none.
  Answer Take(std::int32_t rank, std::uint64_t step, std::int64_t newest);
  bool IsApart(std::int32_t rank) const;

 private:
  enum class Where : std::uint8_t {
    kHere,
    kApart,
    kBehind,  ///< has not come to the beginning of this training
  };
  struct Rank {
    Where where = Where::kHere;
    bool there = false;
    bool any = false;
    std::uint64_t last = 0;  ///< step
  };
  bool AreMostApart() const;
  void Begin();

  std::map<std::int32_t, Rank> ranks_;
};

}  // namespace ringward::watch
