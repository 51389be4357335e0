#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "telemetry/guest/recorder.h"

namespace ringward::learn {

/// What the training loop tells of its steps, in the words of training. Without a recorder every
/// call is a test of a null pointer. One thread.
class StepRecorder {
 public:
  /// The norm of the local gradient costs a pass over it: it is recorded every so many calls.
  static constexpr std::uint64_t kNormInterval = 16;

  /// `recorder` may be null; else it outlives this.
  explicit StepRecorder(telemetry::Recorder* recorder = nullptr) : recorder_(recorder) {}

  /// `step` from 0.
  void Begin(std::int64_t step, double learning_rate);
  /// Call before the phase.
  void Enter(telemetry::Phase phase) {
    if (recorder_ != nullptr) recorder_->EnterPhase(static_cast<std::uint32_t>(phase));
  }
  /// Of this rank alone, before the reduction; may be NaN. `rows` is what it was computed on.
  void LocalLoss(double mean, std::size_t rows);
  /// Of this rank alone, before the reduction.
  void LocalGradient(std::span<const float> gradient);
  void End() {
    if (recorder_ != nullptr) recorder_->EndStep();
  }

 private:
  telemetry::Recorder* recorder_;
  std::uint64_t gradients_ = 0;
};

}  // namespace ringward::learn
