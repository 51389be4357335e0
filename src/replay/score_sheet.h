#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "replay/backtest.h"
#include "replay/fault.h"

namespace ringward::replay {

/// What came of a number of planted faults. Shares of nothing are 1.
struct Tally {
  std::int64_t planted = 0;
  std::int64_t found = 0;
  std::int64_t right_culprit = 0;    ///< of those found
  std::int64_t right_kind = 0;       ///< of those found
  std::vector<std::int64_t> delays;  ///< steps, of those found

  void Add(const FaultOutcome& outcome);
  double recall() const;
  double culprit_share() const;
  double kind_share() const;
  /// Steps; 0 where nothing was found.
  std::int64_t MedianDelay() const;
};

/// The scores of many runs under the same rules, added up.
class ScoreSheet {
 public:
  /// `seconds` is how long the run lasted.
  void Add(const RunScore& run, double seconds);

  std::int64_t runs() const { return runs_; }
  const Tally& all() const { return all_; }
  const std::map<FaultKind, Tally>& by_kind() const { return by_kind_; }
  std::int64_t false_incidents() const { return false_incidents_; }
  double days() const { return seconds_ / 86'400.0; }
  /// Found faults among all that was told.
  double precision() const;
  /// The harmonic mean of precision and recall; 0 where both are.
  double f1() const;

 private:
  std::int64_t runs_ = 0;
  Tally all_;
  std::map<FaultKind, Tally> by_kind_;
  std::int64_t false_incidents_ = 0;
  double seconds_ = 0.0;
};

}  // namespace ringward::replay
