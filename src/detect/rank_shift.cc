#include "detect/rank_shift.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "detect/robust.h"
#include "signal/metric.h"

namespace ringward::detect {
namespace {

using signal::IsMissing;
using signal::kMissing;

constexpr float kClip = 4.0F;           // of scores: one wild step is not a shift
constexpr double kUsualRise = 2.2;      // of the CUSUM, in scores
constexpr float kReferenceMin = 0.25F;  // k, in units of the scale
constexpr float kReferenceMax = 1.0F;
constexpr float kDoubt =
    0.9F;  // in units of the largest of all members' baseline errors; see Doubt()
constexpr float kBaselineFrames = 512.0F;  // how slowly a baseline follows
constexpr float kLongRate = 1.0F / 256.0F;
constexpr float kShortRate = 1.0F / 8.0F;
constexpr std::size_t kSmallGroup = 8;  // where one member moves the median
constexpr std::size_t kBlockFrames = 8;
// What the guess of the wander is worth: so many blocks of so many members.
constexpr double kGuessedBlocks = 8.0;
constexpr double kGuessMembers = 4.0;
constexpr std::size_t kBlockMembers = 256;  // that teach the alarm level at once

signal::Topology::Groups Comparable(const signal::Topology::Groups& groups, std::size_t members) {
  const bool small =
      std::any_of(groups.begin(), groups.end(), [](const auto& group) { return group.size() < 3; });
  if (!small) return groups;
  std::vector<std::int32_t> all(members);
  for (std::size_t i = 0; i < members; ++i) all[i] = static_cast<std::int32_t>(i);
  return {all};
}

/// What is added to k, times the root of the frames that a baseline rests on: of many baselines the
/// worst is off by the root of 2 log(members) of its standard errors.
float Doubt(std::size_t members) {
  return kDoubt * std::sqrt(2.0F * std::log(std::max(static_cast<float>(members), 4.0F)));
}

}  // namespace

RankShift::RankShift(std::size_t members, const signal::Topology::Groups& groups,
                     const Options& options)
    : options_(options),
      groups_(Comparable(groups, members)),
      baseline_(members, 0.0F),
      common_(members, 0.0F),
      residual_(members, 0.0F),
      score_(members, 0.0F),
      cusum_(members, 0.0F),
      learned_(members, 0.0F),
      since_(members, 0),
      trouble_(members, 0),
      tail_(kUsualRise),
      highest_(members, 0.0F),
      stride_(std::max<std::size_t>(1, members / kBlockMembers)) {
  history_.reserve(options.warmup * members);
  level_.assign((members + stride_ - 1) / stride_, 0.0F);
}

void RankShift::CommonOfSmall(const std::vector<std::int32_t>& group, std::span<const float> x) {
  for (const std::int32_t member : group) {
    scratch_.clear();
    for (const std::int32_t other : group) {
      const auto o = static_cast<std::size_t>(other);
      if (other != member && !IsMissing(x[o])) scratch_.push_back(x[o] - baseline_[o]);
    }
    const auto m = static_cast<std::size_t>(member);
    // Alone, a member has only its own past: whatever it does is its own movement.
    common_[m] = scratch_.empty() ? 0.0F : MedianInPlace(scratch_);
  }
}

void RankShift::CommonOfLarge(const std::vector<std::int32_t>& group, std::span<const float> x) {
  scratch_.clear();
  for (const std::int32_t member : group) {
    const auto m = static_cast<std::size_t>(member);
    if (!IsMissing(x[m])) scratch_.push_back(x[m] - baseline_[m]);
  }
  const float median = scratch_.empty() ? 0.0F : MedianInPlace(scratch_);
  for (const std::int32_t member : group) common_[static_cast<std::size_t>(member)] = median;
}

void RankShift::FindCommon(std::span<const float> x) {
  for (const auto& group : groups_) {
    if (group.size() <= kSmallGroup) {
      CommonOfSmall(group, x);
    } else {
      CommonOfLarge(group, x);
    }
  }
}

/// What members have in common is told only once their steady differences are taken away: without,
/// the middle of a few unlike members is a different one for each of them.
void RankShift::CenterOn(std::span<const float> history) {
  for (std::size_t m = 0; m < members(); ++m) {
    scratch_.clear();
    for (std::size_t at = m; at < history.size(); at += members()) {
      if (!IsMissing(history[at])) scratch_.push_back(history[at]);
    }
    if (!scratch_.empty()) baseline_[m] = MedianInPlace(scratch_);
  }
}

void RankShift::Learn() {
  const std::size_t count = members();
  CenterOn(history_);
  const std::size_t frames = history_.size() / count;
  std::vector<std::vector<float>> commons(frames);
  for (std::size_t f = 0; f < frames; ++f) {
    FindCommon(std::span(history_).subspan(f * count, count));
    commons[f] = common_;
  }
  std::vector<float> own;
  std::vector<float> deviations;
  for (std::size_t m = 0; m < count; ++m) {
    own.clear();
    for (std::size_t f = 0; f < frames; ++f) {
      const float x = history_[f * count + m];
      if (!IsMissing(x)) own.push_back(x - commons[f][m]);
    }
    if (own.empty()) continue;
    learned_[m] = static_cast<float>(own.size());
    baseline_[m] = MedianInPlace(own);
    for (const float value : own) deviations.push_back(std::fabs(value - baseline_[m]));
  }
  history_.clear();
  if (deviations.empty()) return;
  const auto mad = static_cast<float>(kMadToSigma) * MedianInPlace(deviations);
  long_scale_ = short_scale_ = std::max(mad, options_.scale_min);
  history_ = {};
  ready_ = true;
}

void RankShift::FindScale() {
  scratch_.clear();
  for (std::size_t m = 0; m < members(); ++m) {
    if (!trouble_[m] && !IsMissing(residual_[m])) scratch_.push_back(std::fabs(residual_[m]));
  }
  if (scratch_.empty()) return;
  const bool small = scratch_.size() < 2 * kSmallGroup;
  const float now = static_cast<float>(kMadToSigma) * MedianInPlace(scratch_);
  short_scale_ += kShortRate * (now - short_scale_);
  long_scale_ += kLongRate * (now - long_scale_);
  scale_ = std::max({long_scale_, short_scale_, options_.scale_min});
  // The median of many is known within a frame, that of a few is not.
  if (!small) scale_ = std::max(scale_, now);
  const double guess = static_cast<double>(options_.wander) * static_cast<double>(options_.wander);
  const double wander = (kGuessedBlocks * guess + wander_) / (kGuessedBlocks + blocks_);
  noise_ = std::sqrt(long_scale_ * long_scale_ + static_cast<float>(wander));
  scale_ = std::sqrt(scale_ * scale_ + static_cast<float>(wander));
}

void RankShift::Step(std::span<const float> x) {
  const float reference = std::clamp(0.5F * options_.shift / noise_, kReferenceMin, kReferenceMax);
  const float doubt = Doubt(members());
  for (std::size_t m = 0; m < members(); ++m) {
    if (IsMissing(x[m])) continue;
    if (learned_[m] == 0.0F) baseline_[m] = x[m] - common_[m];
    const float u = std::clamp(residual_[m] / scale_, -kClip, kClip);
    const float increment = u - reference - doubt / std::sqrt(std::max(learned_[m], 1.0F));
    score_[m] = u;
    if (cusum_[m] == 0.0F) since_[m] = frames_;
    cusum_[m] = std::max(0.0F, cusum_[m] + increment);
    if (cusum_[m] > 0.0F) {
      highest_[m] = std::max(highest_[m], cusum_[m]);
    } else if (highest_[m] > 0.0F) {
      EndExcursion(m);
    }
    if (trouble_[m]) continue;
    learned_[m] = std::min(learned_[m] + 1.0F, kBaselineFrames);
    baseline_[m] += u * scale_ / learned_[m];
    if (m % stride_ == 0) level_[m / stride_] += u * scale_;
  }
}

/// What ends in an alarm is not what a healthy member does, so only what ended by itself teaches.
void RankShift::EndExcursion(std::size_t member) {
  if (!trouble_[member] && member % stride_ == 0) tail_.Add(highest_[member]);
  highest_[member] = 0.0F;
}

void RankShift::LearnWander() {
  // A member in trouble that nobody has noticed yet must not pass for noise: bounded.
  const double most = 2.0 * static_cast<double>(scale_);
  double sum = 0.0;
  double count = 0.0;
  for (std::size_t i = 0; i < level_.size(); ++i) {
    const double level = static_cast<double>(level_[i]) / static_cast<double>(kBlockFrames);
    level_[i] = 0.0F;
    if (trouble_[i * stride_]) continue;
    sum += std::min(level * level, most * most);
    count += 1.0;
  }
  block_frames_ = 0;
  if (count == 0.0) return;
  tail_.AddFrames(count * static_cast<double>(kBlockFrames));
  wander_ += sum / kGuessMembers;
  blocks_ += count / kGuessMembers;
}

bool RankShift::Observe(std::span<const float> x) {
  RINGWARD_CHECK(x.size() == members());
  if (!ready_) {
    history_.insert(history_.end(), x.begin(), x.end());
    ++frames_;
    if (history_.size() >= options_.warmup * members()) Learn();
    return false;
  }
  FindCommon(x);
  for (std::size_t m = 0; m < members(); ++m) {
    residual_[m] = IsMissing(x[m]) ? kMissing : x[m] - baseline_[m] - common_[m];
    score_[m] = 0.0F;
  }
  FindScale();
  Step(x);
  if (++block_frames_ == kBlockFrames) LearnWander();
  ++frames_;
  return true;
}

double RankShift::Level(double frames_per_day, double expected) const {
  return tail_.Level(static_cast<double>(members()) * frames_per_day, expected);
}

}  // namespace ringward::detect
