// What one aggregator does with the agents of a large job: bytes and time for each rank and look,
// through the codec, the hub and the watcher, and the memory that it takes. Fails where that is
// more than half a core, at four looks a second.
//
//   bench_hosts [AGENTS] [RANKS_EACH] [SECONDS]
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "watch/hosts/hosts_test_support.h"
#include "watch/watcher.h"

using namespace ringward;
using namespace ringward::watch;

namespace {

constexpr double kCoresMost = 0.5;
constexpr int kLooksASecond = 4;

class Nobody final : public Listener {
 public:
  void OnLook(const JobLook&) override {}
  void OnJob(const JobEvents&) override {}
  void OnIncident(const JobEvents&, const Told&) override { ++incidents; }
  void OnEnd(const JobWatch&) override {}
  void OnLooked(const Watcher&, bool) override {}
  int incidents = 0;
};

class HubOnly final : public Source {
 public:
  explicit HubOnly(AgentHub& hub) : hub_(hub) {}
  std::vector<RankSight> Look() override { return hub_.Look(); }
  void Wait(Clock::Duration) override {}

 private:
  AgentHub& hub_;
};

/// Adds the processor time of `work` to a sum of seconds.
template <typename Work>
void Timed(double& sum, const Work& work) {
  const std::clock_t begin = std::clock();
  work();
  sum += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// One message of each agent: a step of half a second has ended in every second look.
std::vector<std::string> Messages(std::vector<TestAgent>& agents, std::int32_t ranks, int look,
                                  Clock::Duration now) {
  std::vector<std::string> messages;
  const auto world = static_cast<std::int32_t>(agents.size()) * ranks;
  std::int32_t first = 0;
  for (TestAgent& agent : agents) {
    std::vector<RankSight> sights;
    for (std::int32_t rank = first; rank < first + ranks; ++rank) {
      sights.push_back(MadeSight(rank, world, static_cast<std::uint64_t>(look / 2), now));
      if (look % 2 == 1) sights.back().batch = {};
      if (look % kLooksASecond == 0) {
        for (std::uint32_t metric = 13; metric < signal::kKnownMetrics; ++metric)
          sights.back().machine.push_back({static_cast<signal::Known>(metric), 0.01 * rank});
      }
    }
    first += ranks;
    messages.push_back(agent.Message(sights, now));
  }
  return messages;
}

}  // namespace

int main(int argc, char** argv) {
  const int agents = argc > 1 ? std::atoi(argv[1]) : 1280;
  const auto ranks = static_cast<std::int32_t>(argc > 2 ? std::atoi(argv[2]) : 8);
  const int seconds = argc > 3 ? std::atoi(argv[3]) : 60;
  ManualClock clock;
  AgentHub hub({}, clock);
  HubOnly source(hub);
  Nobody nobody;
  Watcher watcher({}, source, clock, nobody);
  std::vector<TestAgent> all;
  for (int at = 0; at < agents; ++at)
    all.emplace_back("node" + std::to_string(at), static_cast<std::uint64_t>(at) + 1);
  double pack = 0.0;
  double take = 0.0;
  double watch = 0.0;
  std::size_t bytes = 0;
  const int looks = seconds * kLooksASecond;
  for (int look = 0; look < looks; ++look) {
    clock.Advance(std::chrono::milliseconds(1000 / kLooksASecond));
    std::vector<std::string> messages;
    Timed(pack, [&] { messages = Messages(all, ranks, look, clock.Now()); });
    for (const std::string& message : messages) bytes += message.size();
    Timed(take, [&] {
      for (const std::string& message : messages) {
        if (hub.Take(message).status != 200) std::exit(3);
      }
    });
    Timed(watch, [&] { watcher.Look(); });
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const double sights = static_cast<double>(looks) * agents * ranks;
  const double cores = (take + watch) / seconds;
  std::printf("%d agents of %d ranks, %d s of four looks a second, %d incidents\n", agents, ranks,
              seconds, nobody.incidents);
  std::printf("message: %.0f bytes, %.1f a rank and look; %.1f Mbit/s in all\n",
              static_cast<double>(bytes) / looks / agents, static_cast<double>(bytes) / sights,
              8e-6 * static_cast<double>(bytes) / seconds);
  std::printf(
      "a rank and look: making and packing %.2f us, taking %.2f us, merging and judging %.2f us\n",
      1e6 * pack / sights, 1e6 * take / sights, 1e6 * watch / sights);
  std::printf("the aggregator: %.2f cores, %ld MiB at most\n", cores, used.ru_maxrss / 1024);
  const bool holds = cores <= kCoresMost;
  std::printf("at most %.1f cores wanted: %s\n", kCoresMost, holds ? "holds" : "DOES NOT HOLD");
  return holds ? 0 : 1;
}
