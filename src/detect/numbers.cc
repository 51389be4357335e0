#include "detect/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "signal/metric.h"

namespace ringward::detect {
namespace {

using signal::FindingKind;
using signal::IsMissing;
using signal::Known;

// Of a logarithm: smaller jumps are nobody's business.
constexpr float kLossSpikeMin = 0.0953F;  // a tenth more
constexpr float kExplosionMin = 1.3863F;  // four times: a hard batch doubles a gradient
// Of a logarithm above the best.
constexpr float kLossDivergedBy = 0.7F;  // twice the loss
constexpr float kExplodedBy = 2.3026F;   // ten times the gradient
constexpr int kDivergedSteps = 8;        // in a row
constexpr float kVanishedBy = -6.9F;     // a thousandth of what it was

/// Ranks whose value is there and not finite.
std::vector<std::int32_t> NonFinite(const signal::Frame& frame, Known metric, std::size_t world,
                                    std::size_t* known) {
  std::vector<std::int32_t> ranks;
  const signal::Column* const column = frame.Find(metric);
  if (column == nullptr) return ranks;
  for (std::size_t r = 0; r < std::min(world, column->values.size()); ++r) {
    if (IsMissing(column->values[r])) continue;
    ++*known;
    if (!std::isfinite(column->values[r])) ranks.push_back(static_cast<std::int32_t>(r));
  }
  return ranks;
}

}  // namespace

NonFiniteDetector::NonFiniteDetector(const signal::Topology& topology,
                                     const DetectOptions& /*options*/)
    : world_(topology.world()) {}

void NonFiniteDetector::OnFrame(const signal::Frame& frame, const Surroundings& /*around*/,
                                FindingSink& sink) {
  struct Source {
    Known metric;
    const char* name;
    bool local;
  };
  constexpr std::array<Source, 3> kSources = {
      {{Known::kLoss, "local loss", true},
       {Known::kGradientNorm, "local gradient norm", true},
       {Known::kReducedNorm, "reduced gradient norm", false}}};
  for (const Source& source : kSources) {
    std::size_t known = 0;
    std::vector<std::int32_t> ranks = NonFinite(frame, source.metric, world_, &known);
    if (ranks.empty()) continue;
    if (told_.id != 0) return;
    // All at once come out of a reduction (or of weights that are broken already): nobody's own.
    if (!source.local || (ranks.size() == known && world_ > 1)) ranks.clear();
    told_ = sink.New(FindingKind::kNonFinite, "non-finite", frame.step, frame.received);
    told_.ranks = ranks;
    told_.effect = 1.0;
    told_.evidence =
        ranks.empty()
            ? fmt::format("the {} is not finite on every rank that reports it, at step {}",
                          source.name, frame.step)
            : fmt::format("the {} of rank {} is not finite at step {}, before any other's",
                          source.name, ranks.front(), frame.step);
    sink.Add(told_);
    return;
  }
  if (told_.id != 0) Finish(frame.received, sink);
}

void NonFiniteDetector::Finish(signal::Time now, FindingSink& sink) { sink.Close(told_, now); }

LossDetector::LossDetector(const signal::Topology& /*topology*/, const DetectOptions& /*options*/)
    : series_{Series{Known::kLoss, FindingKind::kLossSpike, "loss", kLossSpikeMin, kLossDivergedBy},
              Series{Known::kGradientNorm, FindingKind::kGradientExplodes, "gradient norm",
                     kExplosionMin, kExplodedBy}} {}

void LossDetector::Close(Series& series, signal::Time now, FindingSink& sink) {
  sink.Close(series.told, now);
}

void LossDetector::Tell(Series& series, FindingKind kind, float value, float usual,
                        const signal::Frame& frame, const Surroundings& around, FindingSink& sink) {
  signal::Finding& told = series.told;
  // A spike may turn out to be the beginning of a divergence, never the other way round.
  const bool eased = told.kind == FindingKind::kLossDiverging && kind == FindingKind::kLossSpike;
  const bool grown = told.kind == FindingKind::kLossSpike && kind == FindingKind::kLossDiverging;
  if (told.id != 0 && (told.kind == kind || eased)) return;
  if (told.id != 0 && !grown) Close(series, frame.received, sink);
  if (told.id == 0) {
    told.id = sink.NewId();
    told.step = told.since_step = frame.step;
    told.at = frame.received;
  }
  told.kind = kind;
  told.detector = "loss";
  told.p_value = around.alarms_per_day;
  told.effect = static_cast<double>(std::exp(value - usual));
  told.evidence =
      fmt::format("the ranks' median {} is {:.4g} at step {}, {:.3g} times the usual {:.4g}",
                  series.name, std::exp(value), frame.step, told.effect, std::exp(usual));
  sink.Add(told);
}

void LossDetector::Observe(Series& series, const signal::Frame& frame, const Surroundings& around,
                           FindingSink& sink) {
  const signal::Column* const column = frame.Find(series.metric);
  if (column == nullptr) return;
  scratch_.clear();
  for (const float value : column->values) {
    if (std::isfinite(value) && value > 0.0F) scratch_.push_back(std::log(value));
  }
  if (scratch_.empty()) return;
  const float value = MedianInPlace(scratch_);
  const float usual = series.recent.Median();
  const bool ready = series.tail.ready() && series.recent.full();
  const float difference = value - usual;
  bool strange = false;
  bool vanished = false;
  if (ready) {
    // The tail's level takes a sort: most values are ordinary without it.
    const auto beyond = [&](float by, float least) {
      return by > least && static_cast<double>(by) > series.tail.Level(around.frames_per_day,
                                                                       0.5 * around.alarms_per_day);
    };
    strange = beyond(difference, series.spike_min);
    vanished = series.metric == Known::kGradientNorm && value < series.best + kVanishedBy;
    series.above = beyond(value - series.best, series.diverged_by) ? series.above + 1 : 0;
    if (series.above >= kDivergedSteps) {
      const bool loss = series.metric == Known::kLoss;
      Tell(series, loss ? FindingKind::kLossDiverging : FindingKind::kGradientExplodes, value,
           series.best, frame, around, sink);
    } else if (strange) {
      Tell(series, series.spike, value, usual, frame, around, sink);
    } else if (vanished) {
      Tell(series, FindingKind::kGradientVanishes, value, series.best, frame, around, sink);
    }
  }
  if (strange) series.strangest = std::max(series.strangest, difference);
  if (strange || vanished || series.above > 0) return;  // not what is usual
  Close(series, frame.received, sink);
  // A job that spikes again and again spikes by itself: each is known to the tail once.
  if (series.strangest > 0.0F) series.tail.Learn(std::exchange(series.strangest, 0.0F));
  if (series.recent.full()) {
    series.tail.Learn(difference);
    series.best = series.any ? std::min(series.best, usual) : usual;
    series.any = true;
  }
  series.recent.Add(value);
}

void LossDetector::OnFrame(const signal::Frame& frame, const Surroundings& around,
                           FindingSink& sink) {
  for (Series& series : series_) Observe(series, frame, around, sink);
}

void LossDetector::Finish(signal::Time now, FindingSink& sink) {
  for (Series& series : series_) Close(series, now, sink);
}

}  // namespace ringward::detect
