#include "detect/level_shift.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ringward::detect {
namespace {

constexpr float kClipAt = 3.0F;
constexpr double kUsualRises = 2.2;    // of the CUSUM, in scores
constexpr float kHalfShiftMin = 0.5F;  // k, in units of the scale
constexpr float kHalfShiftMax = 1.0F;
constexpr float kFollowFrames = 512.0F;
constexpr int kBlockValues = 8;
constexpr float kGuessBlocks = 4.0F;  // that the guess of the wander is worth

}  // namespace

LevelShift::LevelShift(const Options& options)
    : options_(options), first_(options.warmup), tail_(kUsualRises) {}

float LevelShift::wander() const {
  const float guess = options_.wander * options_.wander;
  // The difference of two levels has twice the variance of one.
  return std::sqrt((kGuessBlocks * guess + 0.5F * squares_) /
                   (kGuessBlocks + static_cast<float>(blocks_)));
}

void LevelShift::EndBlock() {
  const float level = block_level_ / static_cast<float>(kBlockValues);
  if (blocks_ > 0) squares_ += (level - last_level_) * (level - last_level_);
  last_level_ = level;
  ++blocks_;
  tail_.AddFrames(static_cast<double>(kBlockValues));
  block_level_ = 0.0F;
  block_count_ = 0;
}

bool LevelShift::Observe(float x) {
  ++count_;
  if (!ready_) {
    first_.Add(x);
    if (first_.full()) {
      baseline_ = first_.Median();
      std::vector<float> copy(first_.values().begin(), first_.values().end());
      scale_ = std::max(static_cast<float>(kMadToSigma) * MadInPlace(copy, baseline_),
                        options_.scale_min);
      learned_ = static_cast<float>(first_.size());
      ready_ = true;
    }
    return false;
  }
  const float wander = this->wander();
  const float noise = std::sqrt(scale_ * scale_ + wander * wander);
  const float reference = std::clamp(0.5F * options_.shift / noise, kHalfShiftMin, kHalfShiftMax);
  score_ = std::clamp((x - baseline_) / noise, -kClipAt, kClipAt);
  const float increment = score_ - reference;
  if (cusum_ == 0.0F) since_ = count_ - 1;
  cusum_ = std::max(0.0F, cusum_ + increment);
  if (trouble_) return true;
  if (cusum_ > 0.0F) {
    highest_ = std::max(highest_, cusum_);
  } else if (highest_ > 0.0F) {
    tail_.Add(std::exchange(highest_, 0.0F));
  }
  learned_ = std::min(learned_ + 1.0F, kFollowFrames);
  const float clipped = score_ * noise;
  baseline_ += clipped / learned_;
  scale_ += (std::fabs(clipped) * 1.2533F - scale_) / kFollowFrames;
  scale_ = std::max(scale_, options_.scale_min);
  block_level_ += clipped;
  if (++block_count_ == kBlockValues) EndBlock();
  return true;
}

double LevelShift::Level(double values_per_day, double expected) const {
  return tail_.Level(values_per_day, expected);
}

}  // namespace ringward::detect
