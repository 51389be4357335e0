#pragma once

#include <span>
#include <vector>

#include "signal/frame.h"

namespace ringward::detect {

/// No step takes longer: times beyond are nonsense. Seconds.
inline constexpr float kSecondsMost = 1e8F;

/// Where each rank's time went in one step, seconds a step, [world] each; kMissing where a rank has
/// not reported. What a source does not tell is worked out from the rest: compute is what is left
/// of the step, and without any wait the whole step counts as self time.
class StepTimes {
 public:
  /// Reads a frame; the spans are valid until the next call. False when no rank tells its time.
  bool Read(const signal::Frame& frame, std::size_t world);

  std::span<const float> step() const { return step_; }
  std::span<const float> data() const { return data_; }
  std::span<const float> compute() const { return compute_; }
  std::span<const float> wait() const { return wait_; }
  std::span<const float> self() const { return self_; }  ///< data + compute
  bool has_wait() const { return has_wait_; }
  /// Median over the ranks that report, of the step's time.
  float typical_step() const { return typical_step_; }

 private:
  void Derive(std::size_t rank);

  std::vector<float> step_, data_, compute_, wait_, self_;
  std::vector<float> scratch_;
  bool has_wait_ = false;
  float typical_step_ = 0.0F;
};

}  // namespace ringward::detect
