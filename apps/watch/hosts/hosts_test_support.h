// Sights and messages of made-up agents, for tests and measurements.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "watch/hosts/agent_hub.h"
#include "watch/hosts/wire.h"

namespace ringward::watch {

inline RankSight MadeSight(std::int32_t rank, std::int32_t world, std::uint64_t step,
                           Clock::Duration looked) {
  RankSight sight{.who = {.job = "job", .rank = rank, .world = world, .pid = 100 + rank}};
  sight.looked = looked;
  sight.state.any_step = true;
  sight.state.step = step + 1;
  sight.state.collectives_entered = step + 1;
  sight.cpu_ticks = step;
  telemetry::StepRecord record{.end_ns = looked.count(), .step = step, .steps = 1};
  record.total_ns = 50'000'000;
  record.phase_ns[2] = 45'000'000 + (step * 7919U + static_cast<std::uint64_t>(rank)) % 1000'000;
  record.phase_ns[4] = record.total_ns - record.phase_ns[2];
  sight.batch.steps.push_back(record);
  sight.batch.metrics.push_back({.step = step, .metric = 0, .count = 1, .sum = 1.5});
  return sight;
}

/// An agent that says what a test wants.
class TestAgent {
 public:
  TestAgent(std::string host, std::uint64_t run) {
    header_.host = std::move(host);
    header_.run = run;
    header_.round = true;
  }
  AgentHeader& header() { return header_; }
  /// The next message, or with `again` the last number once more.
  std::string Message(const std::vector<RankSight>& sights, Clock::Duration sent,
                      bool again = false) {
    if (!again) ++header_.sequence;
    header_.sent = sent;
    return AgentCodec::Message(header_, *codec_.Pack(sights));
  }

 private:
  AgentHeader header_{.software = "test"};
  AgentCodec codec_;
};

}  // namespace ringward::watch
