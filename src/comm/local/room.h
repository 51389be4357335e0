#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "comm/communicator.h"

namespace ringward::comm {

/// What one rank brings to a collective; the spans and buffers stay the caller's.
struct Posting {
  std::string_view operation;
  Buffer send;
  Buffer receive;
  std::span<const std::size_t> counts;
  ReduceOp op = ReduceOp::kSum;
  int root = -1;
};

/// Where the threads of a local group meet. Between Meet() and Part() every rank may read all
/// postings and touch the memory they name; nobody returns to its caller before all have parted.
/// Thread-safe.
class Room {
 public:
  explicit Room(int world);

  /// Puts down this rank's posting and waits for all others. On success all have met and their
  /// calls agree. Fails at once when a rank has failed or left, and at `timeout`.
  Status Meet(int rank, const Posting& posting, std::chrono::milliseconds timeout);
  /// Waits until all ranks have come here. Without a deadline: between Meet and here is only
  /// arithmetic on memory, which ends.
  void Part();
  /// Makes every present and later Meet() of other ranks fail as told by AsSeenByPeer.
  void Fail(int rank, const Error& error);
  /// Rank `rank` will never meet again; whoever waits for it now or later is told kUnavailable.
  void Leave(int rank);

  /// REQUIRES: between Meet() and Part().
  const Posting& posting(int rank) const { return postings_[static_cast<std::size_t>(rank)]; }
  int world() const { return static_cast<int>(postings_.size()); }

 private:
  /// Counts this rank in, and returns the number of the round.
  std::uint64_t Arrive();
  std::optional<Error> Mismatch() const;
  Error TimedOut(std::chrono::milliseconds timeout) const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Posting> postings_;
  std::vector<bool> here_;  // who has met in this round
  int arrived_ = 0;
  std::uint64_t round_ = 0;  // grows when all have arrived, at Meet and at Part
  std::optional<Error> failure_;
};

}  // namespace ringward::comm
