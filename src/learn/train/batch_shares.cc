#include "learn/train/batch_shares.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

#include "base/check.h"
#include "learn/dense/kernels.h"

namespace ringward::learn {
namespace {

/// Most that a share may differ from an even one, in even shares.
constexpr double kDeviationMax = 0.5;

/// Part of the way to the shares just measured that a call of Learn() goes: a core's speed stays
/// for seconds, a single measurement also holds what came in between.
constexpr double kGain = 0.5;

bool TooSmall(std::size_t batch, std::size_t world) { return batch < 2 * kPanelRows * world; }

/// Deals `panels` so that the largest ratio of panels to share is as small as can be (the method
/// of D'Hondt, 1882, for seats and votes): the rank done last is done as early as can be.
std::vector<std::size_t> Deal(std::size_t panels, std::span<const double> shares) {
  using Claim = std::pair<double, std::size_t>;  // ratio with one panel more, rank
  std::priority_queue<Claim, std::vector<Claim>, std::greater<>> claims;
  std::vector<std::size_t> dealt;
  std::size_t rest = panels;
  const auto claim = [&](std::size_t rank) {
    claims.emplace(static_cast<double>(dealt[rank] + 1) / shares[rank], rank);
  };
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    // D'Hondt gives nobody less than these; at least 1, whatever the last bits of a share.
    const double whole = std::floor(shares[rank] * static_cast<double>(panels));
    dealt.push_back(std::max<std::size_t>(1, static_cast<std::size_t>(whole)));
    rest -= dealt.back();
    claim(rank);
  }
  for (; rest > 0; --rest) {
    const std::size_t rank = claims.top().second;
    claims.pop();
    ++dealt[rank];
    claim(rank);
  }
  return dealt;
}

}  // namespace

BatchShares::BatchShares(std::size_t world) : shares_(world, 1.0 / static_cast<double>(world)) {
  RINGWARD_CHECK(world >= 1);
}

std::vector<Range> BatchShares::Cut(std::size_t batch) const {
  if (TooSmall(batch, shares_.size())) return CutEvenly(batch, shares_.size());
  std::vector<Range> pieces;
  std::size_t first = 0;
  for (const std::size_t panels : Deal(PanelsOf(batch), shares_)) {
    const std::size_t last = std::min(batch, first + panels * kPanelRows);
    pieces.push_back({first, last});
    first = last;
  }
  return pieces;
}

void BatchShares::Learn(std::span<const double> speeds) {
  RINGWARD_CHECK(speeds.size() == shares_.size());
  double total = 0.0;
  for (const double speed : speeds) {
    if (!(speed > 0.0)) return;
    total += speed;
  }
  for (std::size_t rank = 0; rank < shares_.size(); ++rank) {
    shares_[rank] += kGain * (speeds[rank] / total - shares_[rank]);
  }
  Limit();
}

void BatchShares::Limit() {
  const double even = 1.0 / static_cast<double>(shares_.size());
  double largest = 0.0;
  for (const double share : shares_) largest = std::max(largest, std::abs(share / even - 1.0));
  if (largest <= kDeviationMax) return;
  // All are drawn together alike, which keeps their sum.
  for (double& share : shares_) share = even + (share - even) * kDeviationMax / largest;
}

std::size_t BatchShares::PanelsOf(std::size_t rows) { return (rows + kPanelRows - 1) / kPanelRows; }

std::size_t BatchShares::PieceRowsMax(std::size_t batch_max, std::size_t world) {
  if (TooSmall(batch_max, world)) return PartOf(batch_max, 0, world).size();
  // D'Hondt: panels <= share * (all panels + ranks).
  const double share_max = (1.0 + kDeviationMax) / static_cast<double>(world);
  const double panels = share_max * static_cast<double>(PanelsOf(batch_max) + world);
  return std::min(batch_max, kPanelRows * static_cast<std::size_t>(std::ceil(panels)));
}

}  // namespace ringward::learn
