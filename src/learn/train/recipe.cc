#include "learn/train/recipe.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.h"
#include "learn/train/sequence.h"

namespace ringward::learn {
namespace {

/// Windows share values with their neighbours: this many windows stay together in a fold.
constexpr std::size_t kWindowsPerRun = 16;

/// Rows whose successive difference is below this are readings in their order; so many of them stay
/// together. Of the quickstart's slow weather, runs of 64, 256 and 1,024 rows foretell the same
/// threshold, runs of 16 a lower one.
constexpr double kSequence = 0.5;
constexpr std::size_t kRowsPerRun = 64;

/// Random numbers of kSplit: the levels' folds use 0, 1, ...; rows drawn use streams from here on.
constexpr std::uint64_t kDrawStreams = 1'000;

void Shuffle(Rng& rng, std::vector<std::uint32_t>& values) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[rng.Below(i)]);
}

}  // namespace

std::vector<double> NoiseLevels(const TrainSettings& settings) {
  if (!settings.noise.empty()) return settings.noise;
  return {std::begin(recipe::kNoiseLevels), std::end(recipe::kNoiseLevels)};
}

NetSpec MakeNetSpec(const TrainSettings& settings, int inputs) {
  NetSpec net{.inputs = inputs};
  const auto add = [&](int width) {
    net.layers.push_back(
        {.width = width, .activation = settings.activation, .dropout = settings.dropout});
  };
  for (const int width : settings.hidden) add(width);
  for (std::size_t i = settings.hidden.size() - 1; i > 0; --i) add(settings.hidden[i - 1]);
  net.layers.push_back({.width = inputs});
  for (const double sd : NoiseLevels(settings)) {
    net.input_noise.insert(net.input_noise.end(), static_cast<std::size_t>(settings.folds),
                           static_cast<float>(sd));
  }
  net.members = static_cast<int>(net.input_noise.size());
  return net;
}

std::size_t GlobalBatchOf(const TrainSettings& settings, int world) {
  if (settings.batch == 0) return recipe::kGlobalBatch;
  return static_cast<std::size_t>(settings.batch) * static_cast<std::size_t>(world);
}

LoopOptions MakeLoopOptions(const TrainSettings& settings, std::size_t rows, int world) {
  LoopOptions options{.global_batch = GlobalBatchOf(settings, world),
                      .steps = recipe::kSteps,
                      .learning_rate = settings.learning_rate,
                      .final_rate_share = 0.0,
                      .patience = settings.patience};
  if (settings.steps > 0) options.steps = settings.steps;
  if (settings.epochs > 0.0) {
    const auto steps =
        static_cast<double>(StepsPerEpoch(rows, std::min(rows, options.global_batch)));
    options.steps = std::max<std::int64_t>(1, std::llround(settings.epochs * steps));
  }
  options.step = {.seed = settings.seed,
                  .deterministic = settings.deterministic,
                  .balance = settings.balance,
                  .trim = settings.contaminated ? settings.trim : 0.0};
  return options;
}

std::size_t RowsPerRun(const WindowedRows& data, std::span<const std::uint32_t> rows) {
  if (data.window() > 1) return kWindowsPerRun * static_cast<std::size_t>(data.window());
  return SuccessiveDifference(data, rows) < kSequence ? kRowsPerRun : 1;
}

Folds MakeFolds(const TrainSettings& settings, std::span<const std::uint32_t> rows,
                std::size_t total, std::size_t run) {
  const auto folds = static_cast<std::size_t>(settings.folds);
  const std::size_t levels = NoiseLevels(settings).size();
  // Few rows: rather shorter runs than folds without rows.
  const std::size_t length = std::clamp<std::size_t>(rows.size() / (4 * folds), 1, run);
  const std::size_t runs = (rows.size() + length - 1) / length;
  Folds result{
      .folds = folds, .rows = total, .of_row = std::vector<std::uint8_t>(levels * total, 0)};
  for (std::size_t level = 0; level < levels; ++level) {
    std::vector<std::uint32_t> order(runs);
    std::iota(order.begin(), order.end(), 0U);
    Rng rng(settings.seed, RngPurpose::kSplit, level);
    Shuffle(rng, order);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      result.of_row[level * total + rows[i]] = static_cast<std::uint8_t>(order[i / length] % folds);
    }
  }
  return result;
}

std::vector<std::uint32_t> DrawRows(std::uint64_t seed, std::uint64_t stream,
                                    std::span<const std::uint32_t> rows, std::size_t count) {
  std::vector<std::uint32_t> drawn(rows.begin(), rows.end());
  Rng rng(seed, RngPurpose::kSplit, kDrawStreams + stream);
  Shuffle(rng, drawn);
  drawn.resize(std::min(count, drawn.size()));
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

}  // namespace ringward::learn
