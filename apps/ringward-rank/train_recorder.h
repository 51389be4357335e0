#pragma once

#include <optional>

#include "learn/train/recording_observer.h"
#include "ringward-rank/rank_context.h"
#include "telemetry/guest/recorder.h"

namespace ringward::rank {

/// Records this rank's training and its collectives while it lives. Without a job (a rank started
/// by hand), or where there is no shared memory for it, it does nothing.
class TrainRecorder {
 public:
  /// Observes the context's communicator; the context outlives this.
  explicit TrainRecorder(RankContext& context);
  ~TrainRecorder();
  TrainRecorder(const TrainRecorder&) = delete;
  TrainRecorder& operator=(const TrainRecorder&) = delete;

  /// Null where nothing is recorded.
  telemetry::Recorder* get() const { return observer_ ? recorder_ : nullptr; }

 private:
  RankContext& context_;
  telemetry::Recorder* recorder_;
  std::optional<learn::RecordingObserver> observer_;
};

}  // namespace ringward::rank
