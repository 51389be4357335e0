#include "detect/threshold.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "signal/metric.h"

namespace ringward::detect {
namespace {

using signal::Known;

/// Compiling, evaluating and writing a checkpoint take their time: no rule is meant for that.
bool IsTime(Known metric) {
  return metric == Known::kStepTime || metric == Known::kDataTime ||
         metric == Known::kComputeTime || metric == Known::kWaitTime;
}

bool IsBeyond(const ThresholdRule& rule, double value) {
  return (rule.above && value > *rule.above) || (rule.below && value < *rule.below);
}

std::string EvidenceOf(const ThresholdRule& rule, std::int32_t rank, std::size_t ranks,
                       double value) {
  const std::string who =
      ranks == 1 ? fmt::format("rank {}", rank) : fmt::format("{} ranks, rank {}", ranks, rank);
  const std::string how_long =
      rule.for_seconds > 0.0 ? fmt::format(" for {:g} s", rule.for_seconds) : "";
  return fmt::format("{} of {} is {:.6g}, {} {:g}{}", NameOf(rule.metric), who, value,
                     rule.above ? "above" : "below", rule.above ? *rule.above : *rule.below,
                     how_long);
}

}  // namespace

ThresholdDetector::ThresholdDetector(const signal::Topology& topology, const DetectOptions& options)
    : world_(topology.world()) {
  for (const ThresholdRule& rule : options.thresholds) {
    watched_.push_back({.rule = rule, .ranks = std::vector<Beyond>(world_)});
  }
}

void ThresholdDetector::OnRules(const DetectOptions& options, signal::Time now, FindingSink& sink) {
  std::vector<Watched> before = std::exchange(watched_, {});
  for (const ThresholdRule& rule : options.thresholds) {
    const auto same = std::find_if(before.begin(), before.end(),
                                   [&](const Watched& watched) { return watched.rule == rule; });
    if (same == before.end()) {
      watched_.push_back({.rule = rule, .ranks = std::vector<Beyond>(world_)});
    } else {
      watched_.push_back(std::move(*same));
      before.erase(same);
    }
  }
  for (Watched& gone : before) sink.Close(gone.told, now);
}

void ThresholdDetector::Read(Watched& watched, const signal::Frame& frame) {
  const Known metric = watched.rule.metric;
  const signal::Column* const column = frame.Find(metric);
  if (column == nullptr || (frame.expected_slow && IsTime(metric))) return;
  const double steps = signal::IsSummed(metric) ? static_cast<double>(frame.steps) : 1.0;
  for (std::size_t r = 0; r < std::min(watched.ranks.size(), column->values.size()); ++r) {
    const float value = column->values[r];
    if (std::isnan(value)) continue;  // not reported; or for the detector of such numbers
    Beyond& beyond = watched.ranks[r];
    beyond.value = static_cast<double>(value) / steps;
    const bool is = IsBeyond(watched.rule, beyond.value);
    if (is && !beyond.is) {
      beyond.since = frame.received;
      beyond.since_step = frame.step;
    }
    beyond.is = is;
  }
}

void ThresholdDetector::Tell(Watched& watched, std::vector<std::int32_t> ranks,
                             const signal::Frame& frame, FindingSink& sink) {
  signal::Finding& told = watched.told;
  const auto beyond = [&](std::int32_t rank) -> const Beyond& {
    return watched.ranks[static_cast<std::size_t>(rank)];
  };
  if (told.id == 0) {
    told = sink.New(signal::FindingKind::kThreshold, "threshold", frame.step, frame.received);
    told.rule = watched.rule.name;
    told.severity = watched.rule.severity;
    told.category = watched.rule.category;
    for (const std::int32_t rank : ranks)
      told.since_step = std::min(told.since_step, beyond(rank).since_step);
  }
  const double sign = watched.rule.above ? 1.0 : -1.0;
  const std::int32_t worst =
      *std::max_element(ranks.begin(), ranks.end(), [&](std::int32_t a, std::int32_t b) {
        return sign * beyond(a).value < sign * beyond(b).value;
      });
  told.effect = beyond(worst).value;
  told.evidence = EvidenceOf(watched.rule, worst, ranks.size(), told.effect);
  told.ranks = std::move(ranks);
  sink.Add(told);
}

void ThresholdDetector::Judge(Watched& watched, const signal::Frame& frame, FindingSink& sink) {
  std::vector<std::int32_t> ranks = watched.told.ranks;
  bool any = false;
  for (std::size_t r = 0; r < watched.ranks.size(); ++r) {
    const Beyond& beyond = watched.ranks[r];
    any = any || beyond.is;
    const auto rank = static_cast<std::int32_t>(r);
    const bool lasts =
        beyond.is && signal::Seconds(frame.received - beyond.since) >= watched.rule.for_seconds;
    if (lasts && !std::binary_search(ranks.begin(), ranks.end(), rank))
      ranks.insert(std::upper_bound(ranks.begin(), ranks.end(), rank), rank);
  }
  if (!any) return sink.Close(watched.told, frame.received);
  if (ranks.size() > watched.told.ranks.size()) Tell(watched, std::move(ranks), frame, sink);
}

void ThresholdDetector::OnFrame(const signal::Frame& frame, const Surroundings& /*around*/,
                                FindingSink& sink) {
  for (Watched& watched : watched_) {
    Read(watched, frame);
    Judge(watched, frame, sink);
  }
}

void ThresholdDetector::OnEvent(const signal::Event& event, const Surroundings& /*around*/,
                                FindingSink& /*sink*/) {
  const auto* const ended = std::get_if<signal::RankEnded>(&event.what);
  if (ended == nullptr || ended->rank < 0) return;
  const auto rank = static_cast<std::size_t>(ended->rank);
  for (Watched& watched : watched_) {
    if (rank < watched.ranks.size()) watched.ranks[rank].is = false;
  }
}

void ThresholdDetector::Finish(signal::Time now, FindingSink& sink) {
  for (Watched& watched : watched_) sink.Close(watched.told, now);
}

}  // namespace ringward::detect
