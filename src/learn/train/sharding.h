#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ringward::learn {

/// A half-open range of positions, first <= last.
struct Range {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t size() const { return last - first; }
};

/// Part `part` of `total` things cut into `parts` runs whose lengths differ by at most one, the
/// longer ones first. REQUIRES: 0 <= part < parts.
Range PartOf(std::size_t total, std::size_t part, std::size_t parts);

/// All parts of `total` things, in order, as PartOf() makes them. REQUIRES: parts >= 1.
std::vector<Range> CutEvenly(std::size_t total, std::size_t parts);

/// Fills `order` with a permutation of 0 .. order.size()-1 that is a pure function of seed and
/// epoch, so every rank derives the same global shuffle without a message (Fisher-Yates).
void ShuffleEpoch(std::uint64_t seed, std::uint32_t epoch, std::span<std::uint32_t> order);

/// Steps of an epoch: as many as batches of at most `global_batch` rows need. REQUIRES: both > 0.
std::size_t StepsPerEpoch(std::size_t rows, std::size_t global_batch);

/// Positions in the epoch's order that make the global batch of `step`, in [0, StepsPerEpoch). All
/// batches of an epoch have the same number of rows within one, so none is noisier than the others.
Range GlobalBatch(std::size_t rows, std::size_t global_batch, std::size_t step);

}  // namespace ringward::learn
