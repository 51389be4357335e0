// How long the watcher's pages take at 10,240 ranks with all the heat it keeps: over a socket of
// this machine, and of that the making alone; and what publishing costs the watcher. Fails where a
// page takes longer than 200 ms.
//
//   bench_watch_http [RANKS] [COLUMNS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "watch/http/api_json.h"
#include "watch/http/http_server.h"
#include "watch/http/snapshot_test_support.h"
#include "watch/http/test_client.h"
#include "watch/http/watch_server.h"

using namespace ringward;
using namespace ringward::watch;

namespace {

constexpr int kRounds = 11;
constexpr double kMostMs = 200.0;

/// Median of the rounds, in milliseconds.
double MedianMs(const std::function<void()>& work) {
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    rounds.push_back(took.count());
  }
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  return rounds[kRounds / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const auto ranks = static_cast<std::int32_t>(argc > 1 ? std::atoi(argv[1]) : 10'240);
  const std::int64_t columns = argc > 2 ? std::atoi(argv[2]) : 400;
  Published published;
  published.Put(std::make_shared<const Snapshot>(MadeSnapshot(MadeJob(ranks, columns))));
  HttpCounter counter;
  auto server = HttpServer::Start(
      {.exposure = {.listen = "127.0.0.1:0"}, .counter = &counter, .run = "bench"},
      WatchRoutes(published, counter, {}));
  if (!server) {
    std::fprintf(stderr, "bench_watch_http: %s\n", server.error().what().c_str());
    return 3;
  }
  const std::uint16_t port = PortOfUrl((*server)->url());
  std::printf("%d ranks, %lld columns of 4 metrics\n", ranks, static_cast<long long>(columns));
  bool holds = true;
  for (const char* const target :
       {"/metrics", "/api/v1/jobs", "/api/v1/jobs/job", "/api/v1/jobs/job/incidents",
        "/api/v1/jobs/job/heat?metric=wait", "/api/v1/jobs/job/heat?metric=wait&steps=512"}) {
    std::size_t bytes = 0;
    const double ms = MedianMs([&] { bytes = BodyOf(Get(port, target)).size(); });
    holds = holds && ms <= kMostMs;
    std::printf("%-46s %8.2f ms %10zu bytes\n", target, ms, bytes);
  }
  const JobSnapshot& job = *published.Get()->jobs[0];
  const double copy_ms = MedianMs([&] {
    const auto copy = std::make_shared<const JobSnapshot>(job);
    if (copy->ranks.empty()) std::abort();
  });
  std::printf("%-46s %8.2f ms\n", "publishing: a copy of the snapshot", copy_ms);
  std::printf("pages within %.0f ms: %s\n", kMostMs, holds ? "holds" : "DOES NOT HOLD");
  return holds ? 0 : 1;
}
