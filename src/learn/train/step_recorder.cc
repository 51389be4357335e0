#include "learn/train/step_recorder.h"

#include <array>
#include <cmath>

namespace ringward::learn {
namespace {

/// Euclidean norm. Independent sums, so that additions need not wait for one another; float is
/// enough, and a sum that overflows says what there is to say.
double NormOf(std::span<const float> values) {
  std::array<float, 16> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= values.size(); i += sums.size()) {
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += values[i + k] * values[i + k];
  }
  double total = 0.0;
  for (; i < values.size(); ++i) total += static_cast<double>(values[i]) * values[i];
  for (const float sum : sums) total += static_cast<double>(sum);
  return std::sqrt(total);
}

}  // namespace

void StepRecorder::Begin(std::int64_t step, double learning_rate) {
  if (recorder_ == nullptr) return;
  recorder_->BeginStep(static_cast<std::uint64_t>(step));
  recorder_->RecordMetric(telemetry::kLearningRate, learning_rate);
}

void StepRecorder::LocalLoss(double mean, std::size_t rows) {
  if (recorder_ == nullptr) return;
  recorder_->RecordMetric(telemetry::kLocalLoss, mean);
  recorder_->RecordMetric(telemetry::kSamples, static_cast<double>(rows));
}

void StepRecorder::LocalGradient(std::span<const float> gradient) {
  if (recorder_ == nullptr || gradients_++ % kNormInterval != 0) return;
  recorder_->RecordMetric(telemetry::kLocalGradientNorm, NormOf(gradient));
}

}  // namespace ringward::learn
