#include "detect/job_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "signal/metric.h"

namespace ringward::detect {
namespace {

using signal::FindingKind;
using signal::IsMissing;

constexpr float kFloorOfStep = 0.02F;  // of a step: a median below it does not matter
constexpr float kSpreadFloor = 0.01F;  // of a logarithm: ranks this close are even
constexpr float kFollowRate = 1.0F / 64.0F;
constexpr std::size_t kRanksMin = 4;  // to tell one rank's trouble from everybody's
constexpr std::size_t kLeaders = 32;
constexpr double kLeadsMost = 0.6;         // share of steps led by one rank that is no turn-taking
constexpr double kYoungSeriesWorth = 2.0;  // extra worth of a young series: see Worth()
constexpr double kYoungSteps = 32.0;

/// Median of the values that are there; NaN where none is.
float MedianOf(std::span<const float> values, std::vector<float>& scratch) {
  scratch.clear();
  std::copy_if(values.begin(), values.end(), std::back_inserter(scratch),
               [](float value) { return !IsMissing(value); });
  return scratch.empty() ? signal::kMissing : MedianInPlace(scratch);
}

}  // namespace

JobTimeDetector::JobTimeDetector(const signal::Topology& topology, const DetectOptions& options)
    : options_(options),
      world_(topology.world()),
      wait_(MakeSeries(FindingKind::kWaitSlow, signal::Phase::kCommunicate,
                       "the shortest wait in the collective", 0.1F)),
      data_(MakeSeries(FindingKind::kAllSlow, signal::Phase::kData,
                       "the ranks' median time for input", 0.1F)),
      compute_(MakeSeries(FindingKind::kAllSlow, signal::Phase::kForward,
                          "the ranks' median compute time", 0.1F)),
      spread_(MakeSeries(FindingKind::kUnevenWork, signal::Phase::kForward,
                         "the gap from the median to the slowest rank", 0.2F)),
      usual_(world_, signal::kMissing) {}

JobTimeDetector::Series JobTimeDetector::MakeSeries(FindingKind kind, signal::Phase phase,
                                                    const char* what, float wander) {
  LevelShift::Options options;
  options.wander = wander;
  return {kind, phase, what, Episode(options), {}};
}

double JobTimeDetector::Worth(const Episode& episode) const {
  // What a level does by itself in the long run is not known after a minute: early on only large
  // shifts are believed.
  return options_.worth * (1.0 + kYoungSeriesWorth * kYoungSteps * 4.0 /
                                     (kYoungSteps + static_cast<double>(episode.seen())));
}

void JobTimeDetector::Tell(Series& series, signal::Finding finding, FindingSink& sink) {
  if (finding.over) {
    finding.evidence = series.told.evidence;
  } else {
    finding.evidence =
        fmt::format("{} has grown by {:.3g} ms, {:.0f} % of a step, since step {}", series.what,
                    1e3 * series.episode.mean_excess(), 100.0 * finding.effect, finding.since_step);
  }
  finding.kind = series.kind;
  finding.detector = "job-time";
  finding.phase = series.phase;
  series.told = finding;
  sink.Add(std::move(finding));
}

void JobTimeDetector::Feed(Series& series, float seconds, const signal::Frame& frame,
                           const Surroundings& around, FindingSink& sink) {
  if (IsMissing(seconds)) return;
  const float x = std::log(seconds + floor_);
  const double usual = static_cast<double>(std::exp(series.episode.baseline()) - floor_);
  signal::Finding finding;
  const Episode::Value value{x, static_cast<double>(seconds) - usual,
                             static_cast<double>(times_.typical_step())};
  if (series.episode.Observe(value, frame, around, Worth(series.episode), sink, finding)) {
    Tell(series, std::move(finding), sink);
  }
}

void JobTimeDetector::ObserveWait(const signal::Frame& frame, const Surroundings& around,
                                  FindingSink& sink) {
  if (!times_.has_wait() || world_ < 2) return;
  float shortest = signal::kMissing;
  for (const float wait : times_.wait()) {
    if (!IsMissing(wait) && (IsMissing(shortest) || wait < shortest)) shortest = wait;
  }
  Feed(wait_, shortest, frame, around, sink);
}

bool JobTimeDetector::OneRankLeads() const {
  std::size_t most = 0;
  for (const std::size_t rank : leaders_) {
    most = std::max(most,
                    static_cast<std::size_t>(std::count(leaders_.begin(), leaders_.end(), rank)));
  }
  return static_cast<double>(most) > kLeadsMost * static_cast<double>(leaders_.size());
}

void JobTimeDetector::ObserveSpread(const signal::Frame& frame, const Surroundings& around,
                                    FindingSink& sink) {
  if (world_ < kRanksMin) return;
  const std::span<const float> self = times_.self();
  scratch_.clear();
  std::size_t leader = 0;
  for (std::size_t r = 0; r < world_; ++r) {
    if (IsMissing(self[r])) continue;
    if (self[r] > self[leader] || IsMissing(self[leader])) leader = r;
    float& usual = usual_[r];
    if (IsMissing(usual)) usual = self[r];
    scratch_.push_back(std::log((self[r] + floor_) / (usual + floor_)));
    usual += kFollowRate * (self[r] - usual);
  }
  if (scratch_.size() < kRanksMin) return;
  const float middle = MedianInPlace(scratch_);
  const float spread = MadInPlace(scratch_, middle);
  if (leaders_.size() < kLeaders) leaders_.resize(kLeaders, leader);
  leaders_[leader_at_++ % kLeaders] = leader;
  const float gap = self[leader] - MedianOf(self, scratch_);
  if (spread_.episode.quiet()) gaps_.Add(gap);
  const float usual_gap = gaps_.size() > 0 ? gaps_.Median() : gap;
  signal::Finding finding;
  const Episode::Value value{std::log(spread + kSpreadFloor), static_cast<double>(gap - usual_gap),
                             static_cast<double>(times_.typical_step())};
  const bool news =
      spread_.episode.Observe(value, frame, around, Worth(spread_.episode), sink, finding);
  if (news && (finding.over || !OneRankLeads())) Tell(spread_, std::move(finding), sink);
}

void JobTimeDetector::OnFrame(const signal::Frame& frame, const Surroundings& around,
                              FindingSink& sink) {
  if (frame.expected_slow || !times_.Read(frame, world_)) return;
  if (!first_steps_.full()) {
    first_steps_.Add(times_.typical_step());
    floor_ = std::max(kFloorOfStep * first_steps_.Median(), 1e-7F);
    return;
  }
  Surroundings share = around;
  share.alarms_per_day /= 4.0;
  ObserveWait(frame, share, sink);
  Feed(data_, MedianOf(times_.data(), scratch_), frame, share, sink);
  Feed(compute_, MedianOf(times_.compute(), scratch_), frame, share, sink);
  ObserveSpread(frame, share, sink);
}

void JobTimeDetector::Finish(signal::Time now, FindingSink& sink) {
  const std::array<Series*, 4> all = {&wait_, &data_, &compute_, &spread_};
  for (Series* const series : all) {
    signal::Finding finding;
    if (series->episode.Finish(now, finding)) Tell(*series, std::move(finding), sink);
  }
}

}  // namespace ringward::detect
