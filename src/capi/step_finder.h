#pragma once

#include <cstddef>
#include <cstdint>

namespace ringward::capi {

/// Tells where the steps of a program end that marks none, from its collectives alone.
///
/// A training loop repeats a pattern of collectives, and all ranks enter the same ones in the same
/// order. The kind that comes least often, but does come again, is that of the pattern's end (the
/// loss, the barrier, the last bucket); a step ends with each. Until a pattern is known every
/// collective ends a step, as it does in loops with one collective. All ranks decide alike,
/// for they see the same. Allocates nothing; not thread-safe.
class StepFinder {
 public:
  /// A collective of all ranks has ended. `kind` is equal on all ranks for the same one, and tells
  /// operations and sizes apart. Returns whether a step ends with it.
  bool EndsStep(std::uint64_t kind) {
    recent_[seen_ % kWindow] = kind;
    ++seen_;
    if (found_ && kind == end_) {
      last_end_ = seen_;
      return true;
    }
    const bool lost = found_ && seen_ - last_end_ > 4 * kWindow;
    if (seen_ % kWindow == 0 && (!found_ || lost)) Find();
    return !found_;
  }

  bool found() const { return found_; }

 private:
  static constexpr std::size_t kWindow = 256;

  /// Whether the kind comes again and again: not what a program did when it began.
  bool Recurs(std::uint64_t kind, std::size_t count) const {
    if (count < kLeast) return false;
    std::size_t since = 0;
    while (recent_[kWindow - 1 - since] != kind) ++since;
    return since * count <= 2 * kWindow;
  }

  /// At the end of a window, so that `recent_` is in order. It takes some 50 us.
  void Find() {
    std::size_t rarest = kWindow + 1;
    for (const std::uint64_t kind : recent_) {  // of equals the last one wins
      std::size_t count = 0;
      for (const std::uint64_t other : recent_) count += other == kind ? 1U : 0U;
      if (count > rarest || !Recurs(kind, count)) continue;
      rarest = count;
      end_ = kind;
    }
    found_ = rarest <= kWindow;
    last_end_ = seen_;
  }

  static constexpr std::size_t kLeast = 3;  // what comes twice may be no part of the pattern

  std::uint64_t recent_[kWindow] = {};
  std::uint64_t seen_ = 0;
  std::uint64_t last_end_ = 0;
  std::uint64_t end_ = 0;
  bool found_ = false;
};

}  // namespace ringward::capi
