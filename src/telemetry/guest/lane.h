#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "telemetry/guest/layout.h"

namespace ringward::telemetry {

/// Lets one thread at a time into a lane and sends others away: nobody ever waits.
/// Non-blocking in signal handlers too.
class Gate {
 public:
  bool TryEnter() { return busy_.exchange(1, std::memory_order_acquire) == 0; }
  void Leave() { busy_.store(0, std::memory_order_release); }

 private:
  std::atomic<std::uint32_t> busy_;
};

/// The writer's end of one ring of records. Whoever holds the lane's gate may write.
template <typename Record>
class Lane {
 public:
  void Attach(char* segment, std::size_t offset, std::size_t capacity, LaneHead& head) {
    words_ = reinterpret_cast<Word*>(segment + offset);
    mask_ = capacity - 1;
    head_ = &head;
    written_ = 0;
  }

  /// `record.sequence` is filled in here.
  void Write(const Record& record) {
    constexpr std::size_t kWords = sizeof(Record) / sizeof(Word);
    std::uint64_t words[kWords];
    std::memcpy(words, &record, sizeof(Record));
    Word* const slot = words_ + (written_ & mask_) * kWords;
    slot[0].store(0, std::memory_order_release);
    // Release on each: a reader that sees a word of the new record sees the 0 before it as well.
    for (std::size_t i = 1; i < kWords; ++i) slot[i].store(words[i], std::memory_order_release);
    ++written_;
    slot[0].store(written_, std::memory_order_release);
    head_->written.store(written_, std::memory_order_release);
  }

  std::uint64_t written() const { return written_; }

 private:
  Word* words_;
  std::size_t mask_;  // capacity - 1; capacities are powers of two
  LaneHead* head_;
  std::uint64_t written_;
};

/// Decides which of a quick succession of numbered things end a record: about one in a
/// millisecond, at numbers that are multiples of a power of two. So ranks that run at one speed
/// cut at the same numbers, and their records can be laid side by side.
class Thinning {
 public:
  static constexpr std::int64_t kShortNs = 1'000'000;  ///< records closer than this are thinned
  static constexpr std::int64_t kLongNs = 4'000'000;   ///< a record is due after this at any number
  static constexpr std::uint64_t kStrideMax = 4096;

  void Reset() { stride_.store(1, std::memory_order_relaxed); }
  /// True where the thing with this number, over at `now_ns`, ends a record.
  bool Ends(std::uint64_t number, std::int64_t now_ns) const {
    return ((number + 1) & (stride() - 1)) == 0 || now_ns - last_ns_ >= kLongNs;
  }
  void Wrote(std::int64_t now_ns) {
    const std::int64_t age = now_ns - last_ns_;
    last_ns_ = now_ns;
    if (age < kShortNs && stride() < kStrideMax) {
      stride_.store(stride() * 2, std::memory_order_relaxed);
    } else if (age >= kLongNs && stride() > 1) {
      stride_.store(stride() / 2, std::memory_order_relaxed);
    }
  }
  /// Readable from any thread.
  std::uint64_t stride() const { return stride_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> stride_;
  std::int64_t last_ns_;
};

/// Marks the words of a state block as being changed for its lifetime.
class StateChange {
 public:
  explicit StateChange(Word& version)
      : version_(version), next_(version.load(std::memory_order_relaxed) + 2) {
    version_.store(next_ - 1, std::memory_order_release);
  }
  ~StateChange() { version_.store(next_, std::memory_order_release); }
  StateChange(const StateChange&) = delete;
  StateChange& operator=(const StateChange&) = delete;

 private:
  Word& version_;
  std::uint64_t next_;
};

inline void Set(Word& word, std::uint64_t value) { word.store(value, std::memory_order_release); }
inline void SetTime(Word& word, std::int64_t ns) { Set(word, static_cast<std::uint64_t>(ns)); }

}  // namespace ringward::telemetry
