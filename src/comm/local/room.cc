#include "comm/local/room.h"

#include <algorithm>
#include <string>

#include "comm/engine_base.h"

namespace ringward::comm {
namespace {

/// The first respect in which `b` is another call than `a`, or null.
const char* Difference(const Posting& a, const Posting& b) {
  if (a.operation != b.operation) return "operation";
  if (a.op != b.op) return "reduction";
  if (a.root != b.root) return "root";
  if (a.send.dtype != b.send.dtype) return "type";
  if (!std::ranges::equal(a.counts, b.counts)) return "counts";
  if (a.counts.empty() && a.send.count != b.send.count) return "count";
  return nullptr;
}

}  // namespace

Room::Room(int world)
    : postings_(static_cast<std::size_t>(world)), here_(static_cast<std::size_t>(world)) {}

std::uint64_t Room::Arrive() {
  const std::uint64_t round = round_;
  if (++arrived_ == world()) {
    arrived_ = 0;
    here_.assign(here_.size(), false);
    ++round_;
    changed_.notify_all();
  }
  return round;
}

std::optional<Error> Room::Mismatch() const {
  for (int rank = 1; rank < world(); ++rank) {
    const char* what = Difference(posting(0), posting(rank));
    if (what == nullptr) continue;
    return Error(Code::kInvalidInput,
                 "rank " + std::to_string(rank) + " calls " + std::string(posting(rank).operation) +
                     ", rank 0 " + std::string(posting(0).operation) + ": they differ in " + what);
  }
  return std::nullopt;
}

Error Room::TimedOut(std::chrono::milliseconds timeout) const {
  std::string missing;
  for (std::size_t rank = 0; rank < here_.size(); ++rank) {
    if (!here_[rank]) missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
  }
  return {Code::kTimeout,
          "no word from rank " + missing + " within " + std::to_string(timeout.count()) + " ms"};
}

Status Room::Meet(int rank, const Posting& posting, std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::unique_lock lock(mutex_);
  if (failure_) return *failure_;
  postings_[static_cast<std::size_t>(rank)] = posting;
  here_[static_cast<std::size_t>(rank)] = true;
  if (arrived_ + 1 == world()) failure_ = Mismatch();
  const std::uint64_t round = failure_ ? round_ : Arrive();
  changed_.wait_until(lock, deadline, [&] { return round_ != round || failure_; });
  // A round that is complete counts, whatever fails meanwhile: the others work on our memory now.
  if (round_ != round) return Ok();
  if (!failure_) failure_ = TimedOut(timeout);
  changed_.notify_all();
  return *failure_;
}

void Room::Part() {
  std::unique_lock lock(mutex_);
  const std::uint64_t round = Arrive();
  changed_.wait(lock, [&] { return round_ != round; });
}

void Room::Fail(int rank, const Error& error) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = AsSeenByPeer(rank, error);
  changed_.notify_all();
}

void Room::Leave(int rank) {
  const std::lock_guard lock(mutex_);
  if (!failure_) {
    failure_ = Error(Code::kUnavailable, "rank " + std::to_string(rank) + " has left the group");
  }
  changed_.notify_all();
}

}  // namespace ringward::comm
