#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "learn/dense/plan.h"
#include "learn/train/gradient_step.h"
#include "learn/train/loop.h"
#include "learn/train/settings.h"

namespace ringward::learn {

/// What the default detector is made of, where no flag says otherwise, beside the defaults of
/// TrainSettings.
///
/// Several levels of input noise see anomalies of several sizes: nets without noise find broken
/// correlations, noisy ones find rows that lie far from all others. Every level has one net per
/// fold, so every row has one net of each level that never saw it: those calibrate the threshold.
namespace recipe {
inline constexpr double kNoiseLevels[] = {0.0, 0.2, 0.8};  ///< sd, in standardised units
inline constexpr std::int64_t kSteps = 1500;
inline constexpr std::size_t kGlobalBatch = 128;
inline constexpr double kRidge = 0.01;  ///< of the residual covariance, share of its mean
inline constexpr std::size_t kReferences = 2048;
inline constexpr int kNeighbours = 5;
inline constexpr double kNeighbourWeight = 0.5;
inline constexpr double kNeighbourFloor = 0.05;
/// Rows that statistics and calibration look at, at most; a random part of larger tables.
inline constexpr std::size_t kStatisticRowsMax = 100'000;
}  // namespace recipe

/// Input noise of each level: the flag's, or the recipe's.
std::vector<double> NoiseLevels(const TrainSettings& settings);

/// The ensemble for rows of `inputs` values: members are ordered by level, then by fold.
NetSpec MakeNetSpec(const TrainSettings& settings, int inputs);

/// Rows of a step over all ranks: --batch times the ranks, else the recipe's number whatever the
/// ranks, so that the default result does not depend on -np.
std::size_t GlobalBatchOf(const TrainSettings& settings, int world);

/// The loop's settings for `rows` training rows.
LoopOptions MakeLoopOptions(const TrainSettings& settings, std::size_t rows, int world);

/// How many neighbouring rows go into the same fold: 1, but more where rows resemble the one before
/// them or windows share values with it. Else a net would have seen the neighbours of what it left
/// out, and the threshold would be too low for rows from another day.
std::size_t RowsPerRun(const WindowedRows& data, std::span<const std::uint32_t> rows);

/// Deals `rows` (indices below `total`) into folds, evenly and at random, anew for each level, runs
/// of `run` >= 1 neighbours together (shorter ones where rows are few).
Folds MakeFolds(const TrainSettings& settings, std::span<const std::uint32_t> rows,
                std::size_t total, std::size_t run);

/// Indices below `total` set apart at random, `share` of them; ascending.
std::vector<std::uint32_t> DrawRows(std::uint64_t seed, std::uint64_t stream,
                                    std::span<const std::uint32_t> rows, std::size_t count);

}  // namespace ringward::learn
