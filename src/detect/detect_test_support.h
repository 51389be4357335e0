#pragma once

// Small jobs for the tests of detectors. A test says what a healthy job looks like (SmallJob), what
// goes wrong in which step (Trouble), and reads what the detectors made of it.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "detect/detector_set.h"
#include "signal/metric.h"

namespace ringward::detect {

struct SmallJob {
  std::size_t world = 8;
  std::size_t ranks_per_host = 4;
  std::size_t stages = 1;  ///< rank r is of stage r % stages
  std::int64_t steps = 400;
  double cv = 0.02;            ///< of a rank's compute time
  double step_seconds = 1.0;   ///< typical
  double steady_spread = 0.0;  ///< ranks differ by so much all the time, logarithm
  std::uint64_t seed = 1;
};

/// All ranks' numbers of one step, [world] each, before they become a frame.
struct StepNumbers {
  std::vector<float> data, compute;  ///< seconds
  float transfer = 0.0F;             ///< seconds, of the collective itself
  std::vector<float> loss, norm, memory, retransmits, clock, hash;
  std::vector<char> heard;                                ///< 0: no report of the rank
  std::map<signal::Known, std::vector<float>> machine{};  ///< of the ranks' hosts, where told
};

/// What goes wrong in a step; nothing in a healthy one.
using Trouble = std::function<void(std::int64_t step, StepNumbers& numbers)>;

inline signal::Topology TopologyOf(const SmallJob& job) {
  std::vector<signal::RankPlace> places(job.world);
  for (std::size_t r = 0; r < job.world; ++r) {
    places[r] = {"node" + std::to_string(r / job.ranks_per_host),
                 static_cast<std::int32_t>(r % job.stages),
                 static_cast<std::int32_t>(r / job.stages)};
  }
  return signal::Topology(std::move(places));
}

inline StepNumbers HealthyStep(const SmallJob& job, std::int64_t step) {
  Rng random(job.seed, RngPurpose::kTest, static_cast<std::uint64_t>(step));
  const auto noisy = [&](double value, double cv) {
    return static_cast<float>(value * std::exp(cv * random.Normal()));
  };
  const double level = 0.5 + 2.0 / (1.0 + static_cast<double>(step) / 500.0);
  StepNumbers numbers;
  numbers.transfer = noisy(0.2 * job.step_seconds, 0.03);
  for (std::size_t r = 0; r < job.world; ++r) {
    const double steady = std::exp(job.steady_spread * static_cast<double>(r % 3));
    numbers.data.push_back(noisy(0.05 * job.step_seconds, 2.0 * job.cv));
    numbers.compute.push_back(noisy(0.7 * job.step_seconds * steady, job.cv));
    numbers.loss.push_back(noisy(level, 0.03));
    numbers.norm.push_back(noisy(0.4 * level, 0.05));
    numbers.memory.push_back(noisy(8e9, 0.001));
    numbers.retransmits.push_back(static_cast<float>(random.Uniform()));
    numbers.clock.push_back(0.001F);
    numbers.hash.push_back(static_cast<float>(step % 1000));
  }
  numbers.heard.assign(job.world, 1);
  return numbers;
}

/// The frame of a step: as long as the last rank takes and the transfer after it.
inline signal::Frame FrameOf(const StepNumbers& numbers, std::int64_t step, signal::Time received) {
  using signal::Known;
  const std::size_t world = numbers.data.size();
  float slowest = 0.0F;
  for (std::size_t r = 0; r < world; ++r)
    slowest = std::max(slowest, numbers.data[r] + numbers.compute[r]);
  const float length = slowest + numbers.transfer;
  std::vector<float> wait(world);
  for (std::size_t r = 0; r < world; ++r) wait[r] = length - numbers.data[r] - numbers.compute[r];
  signal::Frame frame;
  frame.step = step;
  frame.received = received + signal::FromSeconds(static_cast<double>(length));
  const auto add = [&](Known metric, std::vector<float> values) {
    for (std::size_t r = 0; r < world; ++r) {
      if (numbers.heard[r] == 0) values[r] = signal::kMissing;
    }
    frame.columns.push_back({signal::IdOf(metric), std::move(values)});
  };
  add(Known::kStepTime, std::vector<float>(world, length));
  add(Known::kDataTime, numbers.data);
  add(Known::kComputeTime, numbers.compute);
  add(Known::kWaitTime, wait);
  add(Known::kLoss, numbers.loss);
  add(Known::kGradientNorm, numbers.norm);
  add(Known::kMemory, numbers.memory);
  add(Known::kMemoryLimit, std::vector<float>(world, 16e9F));
  add(Known::kRetransmits, numbers.retransmits);
  add(Known::kClockOffset, numbers.clock);
  add(Known::kParameterHash, numbers.hash);
  for (const auto& [metric, values] : numbers.machine) add(metric, values);
  return frame;
}

/// The events of a job, JobOpened first.
inline std::vector<signal::Event> EventsOf(const SmallJob& job, const Trouble& trouble = nullptr) {
  std::vector<signal::Event> events;
  signal::Time now = std::chrono::seconds(1'000'000);
  events.push_back({0, now, signal::JobOpened{"small", TopologyOf(job)}});
  for (std::int64_t step = 0; step < job.steps; ++step) {
    StepNumbers numbers = HealthyStep(job, step);
    if (trouble) trouble(step, numbers);
    signal::Frame frame = FrameOf(numbers, step, now);
    now = frame.received;
    events.push_back({events.size(), now, std::move(frame)});
  }
  return events;
}

/// The last word on each stretch of trouble, in the order they were found.
inline std::vector<signal::Finding> Latest(const std::vector<signal::Finding>& findings) {
  std::map<std::uint64_t, signal::Finding> latest;
  for (const signal::Finding& finding : findings) latest[finding.id] = finding;
  std::vector<signal::Finding> all;
  for (auto& [id, finding] : latest) all.push_back(std::move(finding));
  return all;
}

/// Everything that all detectors say about the events, each told as it was told.
inline std::vector<signal::Finding> Watch(std::span<const signal::Event> events,
                                          const DetectOptions& options = {}) {
  DetectorSet detectors(options);
  for (const signal::Event& event : events) {
    detectors.OnEvent(event);
    detectors.OnTime(event.received);
  }
  detectors.Finish(events.back().received);
  return detectors.Take();
}

/// "rank-slow 3, 4": for messages, and to compare findings with what is expected.
inline std::string Brief(const signal::Finding& finding) {
  std::string text = NameOf(finding.kind);
  for (const std::int32_t rank : finding.ranks) text += " " + std::to_string(rank);
  return text;
}

}  // namespace ringward::detect
