#pragma once

#include <cstdint>

#include "detect/detector.h"
#include "detect/level_shift.h"
#include "detect/robust.h"

namespace ringward::detect {

/// A level that has shifted, from the first sign until it is back: a LevelShift and what the shift
/// costs. Shared by the detectors of single series. Not safe for concurrent use.
class Episode {
 public:
  explicit Episode(const LevelShift::Options& options) : shift_(options) {}

  /// One value of the series, and what its being above the baseline costs in this step.
  struct Value {
    float x = 0.0F;             ///< of the series
    double excess = 0.0;        ///< seconds a step
    double step_seconds = 1.0;  ///< of the job's typical step
  };

  /// Takes a value. Tells `finding`, filled in but for what only the caller knows (kind, detector,
  /// ranks, evidence), when the shift is certain, larger than what the level does by itself,
  /// and costs at least `worth` of the steps, and again
  /// with `over` set when it has ended. True when there is something to tell.
  bool Observe(const Value& value, const signal::Frame& frame, const Surroundings& around,
               double worth, FindingSink& sink, signal::Finding& finding);
  /// Ends an open stretch. True when there was one.
  bool Finish(signal::Time now, signal::Finding& finding);

  float baseline() const { return shift_.baseline(); }
  bool open() const { return told_.id != 0; }
  /// Nothing above the baseline just now.
  bool quiet() const { return !open() && shift_.cusum() == 0.0F; }
  /// Values seen after the warm-up.
  std::int64_t seen() const { return seen_; }
  double mean_excess() const { return frames_ > 0 ? excess_ / static_cast<double>(frames_) : 0.0; }

 private:
  void Reset();

  LevelShift shift_;
  std::int64_t seen_ = 0;
  std::int64_t frames_ = 0;  ///< of the present excursion
  std::int64_t since_step_ = 0;
  double excess_ = 0.0;
  double steps_ = 0.0;
  double shift_sum_ = 0.0;  ///< of the values above the baseline
  double trend_ = 0.0;
  double lost_ = 0.0;
  signal::Finding told_;
};

}  // namespace ringward::detect
