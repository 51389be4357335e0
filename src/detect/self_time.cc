#include "detect/self_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "signal/metric.h"

namespace ringward::detect {
namespace {

using signal::FindingKind;
using signal::IsMissing;
using signal::kMissing;

constexpr double kLevelShare = 0.75;     // of the budget, for the test of the level
constexpr float kFloorShare = 0.2F;      // of a step: self time below it does not matter
constexpr float kStepMin = 1e-9F;        // seconds: steps of none at all are no measure of anything
constexpr float kTailSigmas = 4.0F;      // excess up to here is noise
constexpr double kTailRise = 0.3;        // steps: usual rise of a tail's CUSUM
constexpr float kTailMax = 2.0F;         // steps: one long pause is no habit
constexpr float kTailReference = 0.02F;  // steps
constexpr float kTailLevelMin = 1.5F;    // steps lost before a habit is suspected
constexpr float kTailHit = 0.05F;        // steps: an excess that counts as one of a habit
constexpr int kTailHitsMin = 3;
constexpr float kTailSlow = 1.0F / 1024.0F;
constexpr float kTailFast = 1.0F / 64.0F;
constexpr double kSuspicion = 0.25;     // of the alarm level: from here on accounts are kept
constexpr double kSteady = 0.4;         // median over mean excess of a rank that is always slow
constexpr double kOverShare = 0.3;      // of the worth: below it trouble is over
constexpr double kOverOfEffect = 0.15;  // or below this share of what it was
constexpr double kTrendRate = 1.0 / 32.0;
constexpr double kStarved = 0.6;  // of the excess: then it is for want of a core
constexpr double kCrowded = 0.8;  // of all the time: then too
constexpr double kShared = 0.5;   // of its core is used by others: who gets it when is chance
constexpr double kSharedReports = 5;
constexpr double kHeldBack = 0.5;  // of the reports of its GPU: then it is for that
// What chance does is mostly small. An effect of so many times the worth gets the budget as it is,
// others by a power of the ratio, from rarely enough to never matter to twice as often.
constexpr double kFairEffect = 2.0;
constexpr double kEffectPower = 6.0;
constexpr double kBudgetLeast = 0.03;
constexpr double kBudgetMost = 2.0;
constexpr std::int64_t kFramesMin = 3;
constexpr std::size_t kUsualFrames = 32;  // whose median a rank usually spends on its input
// What healthy ranks do by themselves is known the better the more of them were seen for longer:
// the worth of a finding begins at 1 + kYoungWorth times its final value, and is halfway down after
// kYoungFrames frames of 4 ranks.
constexpr double kYoungWorth = 4.0;
constexpr double kYoungFrames = 256.0;

}  // namespace

SelfTimeDetector::SelfTimeDetector(const signal::Topology& topology, const DetectOptions& options)
    : options_(options),
      topology_(topology),
      world_(topology.world()),
      shift_(topology.world(), topology.ByStage(), RankShift::Options{}),
      starvation_(topology.world()),
      throttling_(topology.world()),
      x_(world_),
      expected_(world_, 0.0F),
      usual_data_(world_, Recent(kUsualFrames)),
      tail_value_(world_, 0.0F),
      tail_cusum_(world_, 0.0F),
      tail_(kTailRise),
      tail_highest_(world_, 0.0F),
      tail_hits_(world_, 0) {}

bool SelfTimeDetector::Prepare(const signal::Frame& frame) {
  if (frame.expected_slow || !times_.Read(frame, world_)) return false;
  recent_steps_.Add(times_.typical_step());
  typical_ = std::max(recent_steps_.Median(), kStepMin);
  if (!first_steps_.full()) {
    first_steps_.Add(times_.typical_step());
    floor_ = std::max(kFloorShare * first_steps_.Median(), 1e-7F);
    return false;
  }
  for (std::size_t r = 0; r < world_; ++r) {
    const float self = times_.self()[r];
    x_[r] = IsMissing(self) ? kMissing : std::log(self + floor_);
  }
  return true;
}

void SelfTimeDetector::FindTail() {
  const float noise = std::exp(std::min(kTailSigmas * shift_.scale(), 3.0F));
  float sum = 0.0F;
  std::size_t count = 0;
  largest_ = second_ = 0.0F;
  for (std::size_t r = 0; r < world_; ++r) {
    const float self = times_.self()[r];
    tail_value_[r] = 0.0F;
    if (IsMissing(self)) continue;
    expected_[r] = std::exp(shift_.expected(r)) - floor_;
    const float beyond = self + floor_ - (expected_[r] + floor_) * noise;
    tail_value_[r] = std::clamp(beyond / typical_, 0.0F, kTailMax);
    sum += tail_value_[r];
    ++count;
    if (self > largest_) {
      second_ = largest_;
      largest_ = self;
      last_ = r;
    } else {
      second_ = std::max(second_, self);
    }
  }
  for (std::size_t r = 0; r < world_ && count > 1; ++r) {
    const float others = (sum - tail_value_[r]) / static_cast<float>(count - 1);
    const float usual = std::max(tail_mean_, std::max(tail_now_, others));
    const float increment = tail_value_[r] - std::max(kTailReference, 2.0F * usual);
    tail_cusum_[r] = std::max(0.0F, tail_cusum_[r] + increment);
    if (tail_cusum_[r] > 0.0F) {
      tail_highest_[r] = std::max(tail_highest_[r], tail_cusum_[r]);
      tail_hits_[r] += tail_value_[r] > kTailHit ? 1 : 0;
    } else if (tail_highest_[r] > 0.0F) {
      if (!suspects_.contains(r) || suspects_[r].open == 0) tail_.Add(tail_highest_[r]);
      tail_highest_[r] = 0.0F;
      tail_hits_[r] = 0;
    }
  }
}

void SelfTimeDetector::LearnTail() {
  double sum = 0.0;
  double count = 0.0;
  for (std::size_t r = 0; r < world_; ++r) {
    if (suspects_.contains(r)) continue;
    sum += static_cast<double>(tail_value_[r]);
    count += 1.0;
  }
  if (count == 0.0) return;
  const auto mean = static_cast<float>(sum / count);
  tail_mean_ += kTailSlow * (mean - tail_mean_);
  tail_now_ += kTailFast * (mean - tail_now_);
  tail_.AddFrames(count);
}

double SelfTimeDetector::TailLevel(const Surroundings& around) const {
  const double frames = static_cast<double>(world_) * around.frames_per_day;
  return std::max(static_cast<double>(kTailLevelMin),
                  tail_.Level(frames, (1.0 - kLevelShare) * around.alarms_per_day));
}

void SelfTimeDetector::AccountOne(std::size_t rank, const signal::Frame& frame) {
  Suspect& suspect = suspects_[rank];
  const float self = times_.self()[rank];
  if (IsMissing(self)) return;
  if (suspect.steps == 0) {
    const std::int64_t back =
        shift_.cusum(rank) > 0.0F ? shift_.frames() - 1 - shift_.since(rank) : 0;
    suspect.since_step = frame.step - back * frame.steps;
  }
  const float excess = self - expected_[rank];
  float excess_data = 0.0F;
  if (!IsMissing(times_.data()[rank]) && usual_data_[rank].size() > 0) {
    excess_data = times_.data()[rank] - usual_data_[rank].Median();
  }
  const auto steps = static_cast<double>(frame.steps);
  suspect.steps += frame.steps;
  suspect.excess += steps * static_cast<double>(excess);
  suspect.excess_data += steps * static_cast<double>(excess_data);
  suspect.seconds += steps * static_cast<double>(times_.typical_step());
  if (rank == last_) suspect.lost += steps * static_cast<double>(largest_ - second_);
  suspect.recent.Add(excess);
  if (starvation_.told(rank)) {
    suspect.starved += starvation_.excess(rank);
    suspect.lost_core += starvation_.lost(rank);
    suspect.others += static_cast<double>(starvation_.others(rank));
    suspect.excess_then = suspect.excess;
    suspect.shares += static_cast<double>(starvation_.share(rank));
    suspect.reports += 1.0;
  }
  if (throttling_.told(rank)) {
    suspect.held_back += static_cast<double>(throttling_.share(rank));
    ++suspect.gpu_reports;
  }
  suspect.trend += kTrendRate * (static_cast<double>(excess / typical_) - suspect.trend);
}

/// Of a rank that nothing speaks against.
void SelfTimeDetector::LearnUsual(std::size_t rank) {
  starvation_.Learn(rank);
  throttling_.Learn(rank);
  if (!IsMissing(times_.data()[rank])) usual_data_[rank].Add(times_.data()[rank]);
}

void SelfTimeDetector::Account(const signal::Frame& frame, const Surroundings& around) {
  const double level = shift_.Level(around.frames_per_day, kLevelShare * around.alarms_per_day);
  const double tail_level = TailLevel(around);
  for (std::size_t r = 0; r < world_; ++r) {
    const bool suspicious = static_cast<double>(shift_.cusum(r)) > kSuspicion * level ||
                            static_cast<double>(tail_cusum_[r]) > kSuspicion * tail_level;
    const auto found = suspects_.find(r);
    if (suspicious || found != suspects_.end()) {
      AccountOne(r, frame);
    } else {
      LearnUsual(r);
    }
    if (found != suspects_.end() && found->second.open == 0 && !suspicious) suspects_.erase(found);
  }
}

double SelfTimeDetector::Worth() const {
  const double seen = static_cast<double>(shift_.frames()) * static_cast<double>(world_) / 4.0;
  return options_.worth * (1.0 + kYoungWorth * kYoungFrames / (kYoungFrames + seen));
}

bool SelfTimeDetector::Shares(const Suspect& suspect) {
  return suspect.others > kShared * suspect.reports;
}

bool SelfTimeDetector::IsStarved(const Suspect& suspect) {
  // Without a core nearly always, as usually there: then chance decides who gets one.
  if (suspect.shares > kCrowded * suspect.reports) return true;
  // What is usual may have been lost while the rank waited for others anyway, and now is not.
  const double lost = Shares(suspect) ? suspect.lost_core : suspect.starved;
  return suspect.excess_then > 0.0 && lost > kStarved * suspect.excess_then;
}

/// What its machine has to say is not known yet.
bool SelfTimeDetector::MustWait(std::size_t rank, const Suspect& suspect, signal::Time now) const {
  if (suspect.gpu_reports == 0 && throttling_.tells(rank, now)) return true;
  if (!starvation_.tells(rank, now)) return false;
  // Neighbours come and go: what lasts no longer than they do is not the rank's own.
  return suspect.reports < (Shares(suspect) ? kSharedReports : 1.0);
}

/// A GPU that is always held back is no reason to be slower than before.
bool SelfTimeDetector::IsThrottled(std::size_t rank, const Suspect& suspect) const {
  const double share = suspect.held_back / std::max(suspect.gpu_reports, 1);
  return share > kHeldBack && static_cast<double>(throttling_.usual(rank)) < 0.5 * share;
}

signal::Finding SelfTimeDetector::Describe(std::size_t rank, const Suspect& suspect) const {
  const double mean = suspect.excess / static_cast<double>(suspect.steps);
  const auto median = static_cast<double>(suspect.recent.Median());
  const bool data = suspect.excess_data > 0.5 * suspect.excess;
  signal::Finding finding;
  finding.kind = median >= kSteady * mean ? FindingKind::kRankSlow : FindingKind::kRankTail;
  finding.detector = "self-time";
  finding.ranks = {static_cast<std::int32_t>(rank)};
  finding.phase = data ? signal::Phase::kData : signal::Phase::kForward;
  finding.since_step = suspect.since_step;
  finding.effect = suspect.excess / std::max(suspect.seconds, 1e-12);
  finding.lost_seconds = suspect.lost;
  finding.elapsed_seconds = suspect.seconds;
  finding.evidence = fmt::format(
      "rank {} spends {:.3g} ms more a step than expected {} ({:.3g} ms, over {} steps since step "
      "{})",
      rank, 1e3 * mean, data ? "on its input" : "outside the collective",
      1e3 * static_cast<double>(expected_[rank]), suspect.steps, suspect.since_step);
  if (IsStarved(suspect)) {
    finding.kind = FindingKind::kRankStarved;
    finding.phase = signal::Phase::kForward;
    finding.host = topology_.place(rank).host;
    finding.evidence += ": " + starvation_.Describe(rank);
  } else if (!data && IsThrottled(rank, suspect)) {
    finding.kind = FindingKind::kRankThrottled;
    finding.evidence += ": " + throttling_.Describe(rank, suspect.held_back / suspect.gpu_reports);
  }
  return finding;
}

/// What is known by now about an open stretch; when it was found stays as it was.
void SelfTimeDetector::Tell(std::size_t rank, Suspect& suspect, FindingSink& sink) {
  signal::Finding finding = Describe(rank, suspect);
  finding.id = suspect.told.id;
  finding.step = suspect.told.step;
  finding.at = suspect.told.at;
  finding.p_value = suspect.told.p_value;
  suspect.told = finding;
  suspect.told_steps = suspect.steps;
  sink.Add(std::move(finding));
}

void SelfTimeDetector::Close(std::size_t rank, Suspect& suspect, signal::Time now,
                             FindingSink& sink) {
  suspect.told.over = true;
  suspect.told.at = now;
  suspect.told.lost_seconds = suspect.lost;
  suspect.told.elapsed_seconds = suspect.seconds;
  sink.Add(suspect.told);
  shift_.SetTrouble(rank, false);
  shift_.Restart(rank);
  tail_cusum_[rank] = tail_highest_[rank] = 0.0F;
  tail_hits_[rank] = 0;
}

/// What costs little must be rarer by chance than what is dear.
bool SelfTimeDetector::IsBeyondChance(std::size_t rank, const Suspect& suspect,
                                      const Surroundings& around) const {
  Surroundings asked = around;
  const double effect = suspect.excess / std::max(suspect.seconds, 1e-12);
  const double ratio = std::max(effect, 0.0) / (kFairEffect * options_.worth);
  asked.alarms_per_day *= std::clamp(std::pow(ratio, kEffectPower), kBudgetLeast, kBudgetMost);
  const double level = shift_.Level(asked.frames_per_day, kLevelShare * asked.alarms_per_day);
  if (static_cast<double>(shift_.cusum(rank)) > level) return true;
  return tail_hits_[rank] >= kTailHitsMin &&
         static_cast<double>(tail_cusum_[rank]) > TailLevel(asked);
}

void SelfTimeDetector::Judge(std::size_t rank, Suspect& suspect, const signal::Frame& frame,
                             const Surroundings& around, FindingSink& sink) {
  if (suspect.open != 0) {
    const bool ending = suspect.trend < 0.5 * suspect.told.effect;
    if (suspect.steps >= 2 * suspect.told_steps && !ending) Tell(rank, suspect, sink);
    return;
  }
  if (suspect.steps < kFramesMin || !IsBeyondChance(rank, suspect, around)) return;
  if (MustWait(rank, suspect, frame.received)) return;
  signal::Finding finding = Describe(rank, suspect);
  if (finding.effect < Worth()) return;
  finding.id = suspect.open = sink.NewId();
  finding.step = frame.step;
  finding.at = frame.received;
  finding.p_value = around.alarms_per_day;
  suspect.trend = finding.effect;
  suspect.told = finding;
  suspect.told_steps = suspect.steps;
  shift_.SetTrouble(rank, true);
  sink.Add(std::move(finding));
}

void SelfTimeDetector::OnFrame(const signal::Frame& frame, const Surroundings& around,
                               FindingSink& sink) {
  starvation_.Read(frame);
  throttling_.Read(frame);
  if (!Prepare(frame)) return;
  if (!shift_.Observe(x_)) {
    for (std::size_t r = 0; r < world_; ++r) LearnUsual(r);
    return;
  }
  FindTail();
  Account(frame, around);
  LearnTail();
  for (auto at = suspects_.begin(); at != suspects_.end();) {
    auto& [rank, suspect] = *at;
    Judge(rank, suspect, frame, around, sink);
    if (suspect.open != 0 && suspect.trend < std::max(kOverShare * options_.worth,
                                                      kOverOfEffect * suspect.told.effect)) {
      Close(rank, suspect, frame.received, sink);
      at = suspects_.erase(at);
    } else {
      ++at;
    }
  }
}

void SelfTimeDetector::Finish(signal::Time now, FindingSink& sink) {
  for (auto& [rank, suspect] : suspects_) {
    if (suspect.open != 0) Close(rank, suspect, now, sink);
  }
  suspects_.clear();
}

}  // namespace ringward::detect
