#pragma once

#include <map>
#include <vector>

#include "detect/detector.h"
#include "detect/rank_shift.h"

namespace ringward::detect {

/// Names the ranks whose local loss or gradient norm moves away from the others', up or down:
/// skewed data, scaled input, silent corruption. A steady difference is how that rank's data are,
/// unless it is one rank's alone and far beyond what the other ranks differ by.
/// Also tells replicas whose parameters' hashes differ, against the majority (kReplicasDiffer).
class RankApartDetector final : public Detector {
 public:
  RankApartDetector(const signal::Topology& topology, const DetectOptions& options);
  void OnFrame(const signal::Frame& frame, const Surroundings& around, FindingSink& sink) override;
  void Finish(signal::Time now, FindingSink& sink) override;

 private:
  struct Side {
    signal::Known metric;
    const char* name;
    float sign;
    RankShift shift;
    std::vector<double> sum;  ///< of residuals since the excursion began, [world]
    std::vector<double> count;
    std::map<std::size_t, signal::Finding> told;  ///< by rank
    std::map<std::size_t, double> steady;  ///< distance in the baseline of a rank told for it
    bool looked = false;                   ///< for a steady difference, when the warm-up ended
  };

  void Observe(Side& side, const signal::Frame& frame, const Surroundings& around,
               FindingSink& sink);
  void Judge(Side& side, std::size_t rank, const signal::Frame& frame, double level,
             double alarms_per_day, FindingSink& sink);
  void FindSteady(Side& side, const signal::Frame& frame, FindingSink& sink);
  void CompareReplicas(const signal::Frame& frame, FindingSink& sink);

  const std::size_t world_;
  std::vector<Side> sides_;
  std::vector<float> x_;
  signal::Finding replicas_told_;
};

}  // namespace ringward::detect
