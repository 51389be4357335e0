#include "detect/host_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "signal/metric.h"

namespace ringward::detect {
namespace {

using signal::FindingKind;
using signal::IsMissing;
using signal::Known;

constexpr float kFewRetransmits = 5.0F;  // per second: fewer disturb nobody
constexpr float kManyTimes = 8.0F;       // over the host's own usual, and over the other hosts'
constexpr std::int64_t kHighFrames = 5;  // in a row
constexpr int kLowFrames = 16;
constexpr float kClockSeconds = 0.25F;  // further is beyond what a well-kept clock does
constexpr std::int64_t kClockFrames = 3;

}  // namespace

HostCountersDetector::HostCountersDetector(const signal::Topology& topology,
                                           const DetectOptions& /*options*/)
    : topology_(topology),
      hosts_(topology.ByHost()),
      state_(hosts_.size()),
      gpus_(topology.world()) {}

std::string HostCountersDetector::NameOfHost(std::size_t host) const {
  return topology_.place(static_cast<std::size_t>(hosts_[host].front())).host;
}

bool HostCountersDetector::PerHost(const signal::Frame& frame, Known metric) {
  const signal::Column* const column = frame.Find(metric);
  if (column == nullptr) return false;
  values_.assign(hosts_.size(), signal::kMissing);
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    for (const std::int32_t rank : hosts_[h]) {
      const auto r = static_cast<std::size_t>(rank);
      if (r >= column->values.size() || !std::isfinite(column->values[r])) continue;
      if (IsMissing(values_[h]) || column->values[r] > values_[h]) values_[h] = column->values[r];
    }
  }
  return true;
}

void HostCountersDetector::ObserveRetransmits(std::size_t host, float value, float others,
                                              const signal::Frame& frame, FindingSink& sink) {
  Host& state = state_[host];
  const bool ready = state.usual.size() >= 16;
  const float usual = ready ? std::max(state.usual.Median(), 0.0F) : 0.0F;
  const float limit = std::max({kFewRetransmits, kManyTimes * usual, kManyTimes * others});
  const bool high = ready && value > limit;
  if (!high) {
    state.usual.Add(value);
    state.high = 0;
    if (state.told.id != 0 && ++state.low >= kLowFrames) {
      sink.Close(state.told, frame.received);
    }
    return;
  }
  state.low = 0;
  if (++state.high < kHighFrames || state.told.id != 0) return;
  signal::Finding& told = state.told;
  told = sink.New(FindingKind::kRetransmits, "host-counters", frame.step, frame.received);
  told.ranks = hosts_[host];
  told.host = NameOfHost(host);
  told.phase = signal::Phase::kCommunicate;
  told.since_step = frame.step - (kHighFrames - 1) * frame.steps;
  told.p_value = 1e-6;
  told.effect = static_cast<double>(value / std::max({usual, others, 1.0F}));
  told.evidence = fmt::format(
      "host {} sends {:.3g} segments a second again, {:.3g} before, {:.3g} on other hosts",
      told.host, value, usual, others);
  sink.Add(told);
}

void HostCountersDetector::ObserveClock(std::size_t host, float offset, const signal::Frame& frame,
                                        FindingSink& sink) {
  Host& state = state_[host];
  if (!state.clock_known) {
    state.clock = offset;
    state.clock_known = true;
    return;
  }
  if (std::fabs(offset - state.clock) < kClockSeconds) {
    state.clock_apart = 0;
    sink.Close(state.clock_told, frame.received);
    return;
  }
  if (++state.clock_apart < kClockFrames || state.clock_told.id != 0) return;
  signal::Finding& told = state.clock_told;
  told = sink.New(FindingKind::kClockSkew, "host-counters", frame.step, frame.received);
  told.ranks = hosts_[host];
  told.host = NameOfHost(host);
  told.since_step = frame.step - (kClockFrames - 1) * frame.steps;
  told.effect = static_cast<double>(offset - state.clock);
  told.evidence = fmt::format("the clock of host {} has moved by {:.3g} s", told.host, told.effect);
  sink.Add(told);
}

void HostCountersDetector::ObserveErrors(const signal::Frame& frame, FindingSink& sink) {
  const signal::Column* const errors = frame.Find(Known::kGpuErrors);
  if (errors == nullptr) return;
  const signal::Column* const number = frame.Find(Known::kGpu);
  for (std::size_t r = 0; r < gpus_.size() && r < errors->values.size(); ++r) {
    const float count = errors->values[r];
    Gpu& gpu = gpus_[r];
    if (!std::isfinite(count) || count < 0.0F) continue;
    if (gpu.errors < 0.0F) gpu.errors = count;
    if (count <= gpu.errors || gpu.told.id != 0) continue;
    signal::Finding& told = gpu.told;
    told = sink.New(FindingKind::kGpuErrors, "host-counters", frame.step, frame.received);
    told.ranks = {static_cast<std::int32_t>(r)};
    told.since_step = frame.step;
    told.p_value = 1e-9;
    told.effect = static_cast<double>(count - gpu.errors);
    const bool numbered =
        number != nullptr && r < number->values.size() && std::isfinite(number->values[r]);
    told.evidence = fmt::format(
        "GPU{} of rank {} on host {} counts {:.0f} memory errors beyond repair, {:.0f} before",
        numbered ? fmt::format(" {:.0f}", number->values[r]) : "", r, topology_.place(r).host,
        count, gpu.errors);
    sink.Add(told);
  }
}

void HostCountersDetector::OnFrame(const signal::Frame& frame, const Surroundings& /*around*/,
                                   FindingSink& sink) {
  if (PerHost(frame, Known::kRetransmits)) {
    scratch_.clear();
    for (const float value : values_) {
      if (!IsMissing(value)) scratch_.push_back(value);
    }
    // A link has two ends: the typical host is what is left of the hosts without the worst.
    const float others = scratch_.size() > 2 ? QuantileInPlace(scratch_, 0.5) : 0.0F;
    for (std::size_t h = 0; h < hosts_.size(); ++h) {
      if (!IsMissing(values_[h])) ObserveRetransmits(h, values_[h], others, frame, sink);
    }
  }
  ObserveErrors(frame, sink);
  if (PerHost(frame, Known::kClockOffset)) {
    for (std::size_t h = 0; h < hosts_.size(); ++h) {
      if (!IsMissing(values_[h])) ObserveClock(h, values_[h], frame, sink);
    }
  }
}

void HostCountersDetector::Finish(signal::Time now, FindingSink& sink) {
  for (Gpu& gpu : gpus_) sink.Close(gpu.told, now);
  for (Host& state : state_) {
    for (signal::Finding* const told : {&state.told, &state.clock_told}) {
      sink.Close(*told, now);
    }
  }
}

}  // namespace ringward::detect
