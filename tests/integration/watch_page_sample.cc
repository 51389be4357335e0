// Serves the watcher's page over made jobs, for a browser to look at:
//
//   watch_page_sample [RANKS]     prints the page's address, serves until standard input ends
//
// A job of RANKS ranks (10,240) in which one is slow from the middle on, one that is frozen, a
// healthy and an ended one.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/rng.h"
#include "ringward/cli/json.h"
#include "watch/http/api_json.h"
#include "watch/http/assets.h"
#include "watch/http/http_server.h"
#include "watch/http/watch_server.h"

namespace ringward::watch {
namespace {

constexpr std::int64_t kColumns = 240;
constexpr std::int64_t kFirstStep = 1500;
constexpr std::int64_t kSlowFrom = kFirstStep + 160;
constexpr double kUsual = 0.040;
constexpr double kSlow = 0.068;

/// The last to be ready holds up all.
RankColumn Step(std::int64_t step, std::size_t world, std::size_t slow_rank) {
  RankColumn column{step, step, {}};
  Rng rng(1, RngPurpose::kTest, static_cast<std::uint64_t>(step));
  std::vector<float> self(world);
  for (float& value : self)
    value = static_cast<float>(kUsual * (step % 97 == 0 ? 1.6 : 1.0) * (1.0 + 0.03 * rng.Normal()));
  if (slow_rank < world && step >= kSlowFrom)
    self[slow_rank] = static_cast<float>(kSlow * (1.0 + 0.03 * rng.Normal()));
  float last = 0.0F;
  for (const float value : self) last = std::max(last, value);
  const auto of = [&](RankMetric metric) -> std::vector<float>& {
    auto& values = column.values[static_cast<std::size_t>(metric)];
    values.resize(world);
    return values;
  };
  for (std::size_t rank = 0; rank < world; ++rank) {
    of(RankMetric::kWait)[rank] = last - self[rank] + 0.004F;
    of(RankMetric::kData)[rank] = static_cast<float>(0.004 * (1.0 + 0.2 * rng.Uniform()));
    of(RankMetric::kLoss)[rank] =
        static_cast<float>(2.0 / (1.0 + 0.001 * static_cast<double>(step)) + 0.1 * rng.Uniform());
    of(RankMetric::kMemory)[rank] = 3.0e9F + 1.0e8F * static_cast<float>(rng.Uniform());
  }
  of(RankMetric::kSelf) = std::move(self);
  return column;
}

JobSnapshot Job(const std::string& name, std::int32_t world, std::size_t slow_rank) {
  JobSnapshot job;
  job.run = {name, world, {"node7"}};
  const auto ranks = static_cast<std::size_t>(world);
  job.step = kFirstStep + kColumns - 1;
  job.step_seconds = slow_rank < ranks ? kSlow + 0.004 : kUsual + 0.006;
  job.steps = static_cast<std::uint64_t>(kColumns);
  job.seen = ranks;
  job.ranks.assign(ranks, {RankState::kLiving, signal::Phase::kForward, false, job.step + 1, 1740});
  job.states[static_cast<std::size_t>(RankState::kLiving)] = ranks;
  for (std::int64_t step = kFirstStep; step <= job.step; ++step)
    job.columns.push_back(std::make_shared<RankColumn>(Step(step, ranks, slow_rank)));
  return job;
}

signal::Cause Incident(std::uint64_t id, const char* cause, std::int32_t rank, std::int32_t world,
                       Clock::Duration now) {
  std::vector<std::int32_t> others;
  for (std::int32_t other = 0; other < world; ++other)
    if (other != rank) others.push_back(other);
  return {
      .id = id,
      .category = signal::Category::kCompute,
      .cause = cause,
      .summary = fmt::format("{}: rank {}", cause, rank),
      .culprit_ranks = {rank},
      .victim_ranks = std::move(others),
      .confidence = 0.93,
      .evidence = {{"", 0,
                    fmt::format("rank {} needs 68.1 ms for itself, 1.71 times its usual 39.8 ms; "
                                "the others 40.1 ms",
                                rank)},
                   {"", 0, fmt::format("rank {} was the last to come in 58 of 60 steps", rank)}},
      .remedy = "look for another program, a lower clock or heat on that machine",
      .action = signal::Remedy::kExcludeHost,
      .since_step = kSlowFrom,
      .found_step = kSlowFrom + 9,
      .started = now - std::chrono::seconds(6),
      .lost_seconds = 2.24,
      .speedup_without = 1.64};
}

/// Stands in its forward pass while the others wait for it.
JobSnapshot FrozenJob(Clock::Duration now) {
  JobSnapshot job = Job("frozen", 8, 8);
  for (RankStatus& rank : job.ranks)
    rank = {RankState::kSilent, signal::Phase::kForward, true, job.step + 1, 1741};
  job.ranks[5].in_collective = false;
  job.ranks[5].collectives = 1740;
  job.states = {};
  job.states[static_cast<std::size_t>(RankState::kSilent)] = job.ranks.size();
  signal::Cause cause = Incident(1, "rank-frozen", 5, 8, now);
  cause.evidence = {
      {"", 0, "rank 5 has not moved for 14.3 s while 7 of 8 ranks wait for it in collective 1741"}};
  cause.since_step = cause.found_step = job.step;
  cause.speedup_without = 1.0;
  job.incidents = {cause};
  job.open = {{cause.cause, 1}};
  job.found = 1;
  return job;
}

std::shared_ptr<const Snapshot> MadeJobs(std::int32_t world, Clock::Duration now) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->at = snapshot->judged = now;
  const auto slow = static_cast<std::size_t>(world) * 7 / 10;
  JobSnapshot large = Job(fmt::format("pretrain/{}", world), world, slow);
  signal::Cause past =
      Incident(1, "intermittent-slow-rank", world / 4, world, now - std::chrono::minutes(4));
  past.since_step = kFirstStep + 30;
  past.found_step = kFirstStep + 80;
  past.over = true;
  large.incidents = {Incident(2, "slow-rank", static_cast<std::int32_t>(slow), world, now), past};
  large.open = {{"slow-rank", 1}};
  large.found = 2;
  JobSnapshot ended = Job("nightly", 4, 4);
  ended.ended = true;
  ended.states = {};
  ended.states[static_cast<std::size_t>(RankState::kEnded)] = 4;
  for (RankStatus& rank : ended.ranks) rank.state = RankState::kEnded;
  snapshot->jobs = {std::make_shared<JobSnapshot>(std::move(large)),
                    std::make_shared<JobSnapshot>(FrozenJob(now)),
                    std::make_shared<JobSnapshot>(Job("finetune", 16, 16)),
                    std::make_shared<JobSnapshot>(std::move(ended))};
  return snapshot;
}

bool InputEnds(int wait_ms) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char ignored = 0;
  return poll(&input, 1, wait_ms) == 1 && read(STDIN_FILENO, &ignored, 1) <= 0;
}

int Serve(std::int32_t world) {
  const Clock& clock = SystemClock();
  Published published;
  HttpCounter counter;
  published.Put(MadeJobs(world, clock.WallNow()));
  auto server = HttpServer::Start(
      {.exposure = {.listen = "127.0.0.1:0"}, .counter = &counter, .run = "sample"},
      WatchRoutes(published, counter, WebAssets()));
  if (!server) {
    std::cerr << server.error().what() << '\n';
    return 3;
  }
  std::cout << (*server)->url() << std::endl;
  while (!InputEnds(1000)) {
    auto snapshot = std::make_shared<Snapshot>(*published.Get());
    snapshot->at = clock.WallNow();
    published.Put(std::move(snapshot));
    (*server)->Publish({"status", cli::DumpJsonLine(JobsJson(*published.Get())), false});
  }
  return 0;
}

}  // namespace
}  // namespace ringward::watch

int main(int argc, char** argv) {
  const int world = argc > 1 ? std::atoi(argv[1]) : 10240;
  if (world < 2) {
    std::cerr << "usage: watch_page_sample [RANKS]\n";
    return 2;
  }
  return ringward::watch::Serve(world);
}
