#pragma once

#include <cstddef>

#include "base/clock.h"
#include "base/result.h"
#include "comm/communicator.h"
#include "learn/train/batch_shares.h"

namespace ringward::learn {

/// Measures how fast each rank works, tells all ranks, and so moves their shares of the batch.
/// A rank's own work is what counts: it waits for the slowest in the collectives, and there all
/// look alike. Keeps references; not safe for concurrent use.
class Balancer {
 public:
  Balancer(comm::Communicator& comm, const Clock& clock);

  const BatchShares& shares() const { return shares_; }

  /// Own work begins; it lasts until Pause(). Any number of times in a step.
  void Work() { since_ = clock_.Now(); }
  void Pause() { worked_ += clock_.Now() - since_; }

  /// Ends a step in which this rank computed `rows`, >= 0; every rank calls it after every step.
  /// In some steps it is a collective of one number a rank. Fails as the communicator does.
  Status EndStep(std::size_t rows);

 private:
  comm::Communicator& comm_;
  const Clock& clock_;
  BatchShares shares_;
  Clock::Duration since_{};
  Clock::Duration worked_{};  // in this window
  std::size_t panels_ = 0;
  int steps_ = 0;
  int window_ = 1;  // steps
};

}  // namespace ringward::learn
