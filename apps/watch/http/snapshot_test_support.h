// Snapshots that tests and bench/ show.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "watch/http/snapshot.h"

namespace ringward::watch {

/// A job of `world` ranks with `columns` columns: rank r needs 40 ms and r / 16 ms more for itself,
/// and waits what is left of 60 ms; the last rank's loss is not a number.
inline JobSnapshot MadeJob(std::int32_t world, std::int64_t columns) {
  JobSnapshot job;
  job.run = {"job", world, {"node7"}};
  const auto ranks = static_cast<std::size_t>(world);
  job.ranks.assign(ranks, {.state = RankState::kLiving,
                           .phase = signal::Phase::kForward,
                           .step = columns,
                           .collectives = 7});
  job.ranks[0].state = RankState::kSilent;
  job.states[static_cast<std::size_t>(RankState::kSilent)] = 1;
  job.states[static_cast<std::size_t>(RankState::kLiving)] = ranks - 1;
  job.seen = ranks;
  job.step = columns - 1;
  job.step_seconds = 0.0625;
  job.steps = static_cast<std::uint64_t>(columns);
  job.records_lost = 2;
  for (std::int64_t step = 0; step < columns; ++step) {
    auto column = std::make_shared<RankColumn>();
    column->first_step = column->last_step = step;
    for (const RankMetric metric : {RankMetric::kSelf, RankMetric::kData, RankMetric::kWait,
                                    RankMetric::kLoss, RankMetric::kGpuPower})
      column->values[static_cast<std::size_t>(metric)].resize(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const float self = 0.04F + static_cast<float>(rank) / 16000.0F;
      column->values[static_cast<std::size_t>(RankMetric::kSelf)][rank] = self;
      column->values[static_cast<std::size_t>(RankMetric::kData)][rank] = 0.0078125F;
      column->values[static_cast<std::size_t>(RankMetric::kWait)][rank] = 0.06F - self;
      column->values[static_cast<std::size_t>(RankMetric::kGpuPower)][rank] =
          rank == 0 ? 312.5F : signal::kMissing;
      column->values[static_cast<std::size_t>(RankMetric::kLoss)][rank] =
          rank + 1 == ranks ? std::nanf("") : 0.5F + static_cast<float>(step);
    }
    column->values[static_cast<std::size_t>(RankMetric::kWait)][0] = signal::kMissing;
    job.columns.push_back(std::move(column));
  }
  return job;
}

/// An incident of which everything is known.
inline signal::Cause MadeIncident(std::uint64_t id, bool over) {
  return {.id = id,
          .category = signal::Category::kCompute,
          .cause = "slow-rank",
          .summary = "rank 3 computes \"slowly\"",
          .culprit_ranks = {3},
          .culprit_hosts = {"node7"},
          .victim_ranks = {0, 1, 2},
          .confidence = 0.75,
          .evidence = {{"", 0, "rank 3 took 1.5 times its usual time"}},
          .remedy = "look at that machine",
          .action = signal::Remedy::kExcludeHost,
          .since_step = 1,
          .found_step = 2,
          .started = std::chrono::milliseconds(1767607200500),
          .over = over,
          .lost_seconds = 1.5,
          .speedup_without = 1.25};
}

/// A watcher of that job, with an open incident and one that is over.
inline Snapshot MadeSnapshot(JobSnapshot job) {
  job.incidents = {MadeIncident(2, false), MadeIncident(1, true)};
  job.open = {{"slow-rank", 1}};
  job.found = 2;
  Snapshot snapshot{.at = std::chrono::milliseconds(1767607230250),
                    .judged = std::chrono::milliseconds(1767607230000),
                    .looks = 120,
                    .judgements = 30,
                    .cpu_seconds = 0.25,
                    .found = {{"slow-rank", 2}},
                    .clock_steps = 1,
                    .rules_changes = 2,
                    .not_recorded = 40};
  snapshot.jobs.push_back(std::make_shared<const JobSnapshot>(std::move(job)));
  return snapshot;
}

}  // namespace ringward::watch
