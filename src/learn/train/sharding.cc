#include "learn/train/sharding.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/rng.h"

namespace ringward::learn {

Range PartOf(std::size_t total, std::size_t part, std::size_t parts) {
  RINGWARD_CHECK(part < parts);
  const std::size_t length = total / parts;
  const std::size_t longer = total % parts;
  const std::size_t first = part * length + std::min(part, longer);
  return {first, first + length + (part < longer ? 1 : 0)};
}

std::vector<Range> CutEvenly(std::size_t total, std::size_t parts) {
  std::vector<Range> cut;
  for (std::size_t part = 0; part < parts; ++part) cut.push_back(PartOf(total, part, parts));
  return cut;
}

void ShuffleEpoch(std::uint64_t seed, std::uint32_t epoch, std::span<std::uint32_t> order) {
  std::iota(order.begin(), order.end(), 0U);
  Rng rng(seed, RngPurpose::kShuffle, epoch);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.Below(i)]);
}

std::size_t StepsPerEpoch(std::size_t rows, std::size_t global_batch) {
  RINGWARD_CHECK(rows > 0 && global_batch > 0);
  return (rows + global_batch - 1) / global_batch;
}

Range GlobalBatch(std::size_t rows, std::size_t global_batch, std::size_t step) {
  return PartOf(rows, step, StepsPerEpoch(rows, global_batch));
}

}  // namespace ringward::learn
