#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "signal/cause.h"
#include "signal/finding.h"
#include "signal/topology.h"

namespace ringward::diagnose {

/// Folds findings into incidents, one per cause: repeats under the first, victims under culprits,
/// ranks under their host. Pure: the same findings in the same order give the same incidents.
/// Memory is bounded: of those that are over the newest are kept, and of the findings of one, the
/// first and the newest. Not safe for concurrent use.
class Incidents {
 public:
  static constexpr std::size_t kOverMost = 256;     ///< incidents that are over, and are kept
  static constexpr std::size_t kFindingsMost = 64;  ///< of one incident, where those are over

  void SetTopology(const signal::Topology& topology) { topology_ = topology; }

  /// Takes findings in the order they were made; `step_seconds` is a typical step's time. Returns
  /// the incidents that are new or have changed.
  std::vector<signal::Cause> Fold(std::span<const signal::Finding> findings, double step_seconds);

  /// The incidents that are kept, in the order they were found.
  std::vector<signal::Cause> All() const;

 private:
  struct Incident {
    signal::Cause cause;
    std::vector<signal::Finding> findings;  ///< the latest of each id
  };

  Incident& HomeOf(const signal::Finding& finding);
  static void Shorten(Incident& incident);
  void ForgetOld();

  signal::Topology topology_;
  std::vector<Incident> incidents_;  ///< by id
  std::uint64_t last_id_ = 0;
};

}  // namespace ringward::diagnose
