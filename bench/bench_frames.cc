// What a sample costs at the border: FrameAssembler over 10,240 ranks x 8 metrics, samples in
// order, shuffled among ranks, and each of them twice. Prints the median of the rounds.
//
//   bench_frames [RANKS] [METRICS] [STEPS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/rng.h"
#include "signal/frame_assembler.h"

using namespace ringward;
using namespace ringward::signal;

namespace {

enum class Order { kByRank, kShuffled, kTwice };

struct Size {
  std::size_t ranks = 10'240;
  std::size_t metrics = 8;
  int steps = 40;
};

std::vector<Sample> SamplesOfAStep(const Size& size, Order order) {
  std::vector<Sample> samples;
  for (std::size_t rank = 0; rank < size.ranks; ++rank) {
    for (std::size_t metric = 0; metric < size.metrics; ++metric) {
      const Sample sample{.rank = static_cast<std::int32_t>(rank),
                          .metric = static_cast<MetricId>(metric),
                          .value = 1.0F};
      samples.push_back(sample);
      if (order == Order::kTwice) samples.push_back(sample);
    }
  }
  Rng rng(1);
  if (order == Order::kShuffled) std::shuffle(samples.begin(), samples.end(), rng);
  return samples;
}

double NanosecondsASample(const Size& size, Order order) {
  const MetricTable metrics;
  FrameAssembler assembler(size.ranks, metrics);
  std::vector<Sample> samples = SamplesOfAStep(size, order);
  std::vector<double> rounds;
  std::size_t frames = 0;
  for (int step = 0; step < size.steps; ++step) {
    for (Sample& sample : samples) sample.step = step;
    const auto begin = std::chrono::steady_clock::now();
    for (const Sample& sample : samples) assembler.Add(sample);
    for (std::size_t rank = 0; rank < size.ranks; ++rank) {
      assembler.End({.rank = static_cast<std::int32_t>(rank), .step = step});
    }
    while (assembler.Next()) ++frames;
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    rounds.push_back(took.count() / static_cast<double>(samples.size()));
  }
  if (frames != static_cast<std::size_t>(size.steps)) std::abort();
  std::nth_element(rounds.begin(), rounds.begin() + size.steps / 2, rounds.end());
  return rounds[static_cast<std::size_t>(size.steps) / 2];
}

}  // namespace

int main(int argc, char** argv) {
  Size size;
  if (argc > 1) size.ranks = std::strtoul(argv[1], nullptr, 10);
  if (argc > 2) size.metrics = std::clamp(std::strtoul(argv[2], nullptr, 10), 1UL, kKnownMetrics);
  if (argc > 3) size.steps = std::max(1, std::atoi(argv[3]));
  std::printf("%zu ranks x %zu metrics, ns a sample (frames closed and taken included)\n",
              size.ranks, size.metrics);
  std::printf("in order      %6.1f\n", NanosecondsASample(size, Order::kByRank));
  std::printf("shuffled      %6.1f\n", NanosecondsASample(size, Order::kShuffled));
  std::printf("each twice    %6.1f\n", NanosecondsASample(size, Order::kTwice));
}
