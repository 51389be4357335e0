#include "ringward-rank/train_recorder.h"

#include <string>

#include "base/log.h"

namespace ringward::rank {

TrainRecorder::TrainRecorder(RankContext& context)
    : context_(context),
      recorder_(telemetry::Recorder::Open({.job = context.environment.job_id.c_str(),
                                           .rank = context.environment.rank,
                                           .world = context.environment.world_size})) {
  if (recorder_ == nullptr) return;
  if (recorder_->status() != telemetry::RecorderStatus::kOn) {
    LogDebug(std::string("recorder ") + telemetry::Describe(recorder_->status()));
    return;
  }
  observer_.emplace(*recorder_, context.observer);
  context.communicator->SetObserver(&*observer_);
}

TrainRecorder::~TrainRecorder() {
  if (observer_) context_.communicator->SetObserver(context_.observer);
  if (recorder_ != nullptr) recorder_->Close();
}

}  // namespace ringward::rank
