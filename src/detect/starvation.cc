#include "detect/starvation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "signal/metric.h"

namespace ringward::detect {
namespace {

using signal::Known;

// A source that told it so lately is waited for.
constexpr double kSoonSeconds = 3.0;
constexpr float kShareTold = 0.05F;  // less is not worth a word

float ValueOf(const signal::Column* column, std::size_t rank, float otherwise) {
  if (column == nullptr || rank >= column->values.size()) return otherwise;
  const float value = column->values[rank];
  return std::isfinite(value) ? value : otherwise;
}

}  // namespace

void Starvation::Read(const signal::Frame& frame) {
  steps_ += frame.steps;
  const signal::Column* const wait = frame.Find(Known::kRunWait);
  // Most frames tell nothing of it.
  if (wait == nullptr && !any_told_) return;
  any_told_ = wait != nullptr;
  const signal::Column* const stolen = frame.Find(Known::kCoreStolen);
  const signal::Column* const others = frame.Find(Known::kCoreOthers);
  const signal::Column* const core = frame.Find(Known::kCore);
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    Rank& rank = ranks_[r];
    const float share = ValueOf(wait, r, -1.0F);
    rank.told = share >= 0.0F;
    rank.excess = rank.lost = 0.0;
    if (!rank.told) continue;
    rank.wait = std::min(share, 1.0F);
    rank.stolen = std::clamp(ValueOf(stolen, r, 0.0F), 0.0F, 1.0F);
    rank.others = std::clamp(ValueOf(others, r, 0.0F), 0.0F, 1.0F);
    rank.core = ValueOf(core, r, -1.0F);
    if (rank.ever) {
      const double seconds = std::max(signal::Seconds(frame.received - rank.at), 0.0);
      const auto steps = static_cast<double>(std::max<std::int64_t>(steps_ - rank.at_steps, 1));
      rank.lost = seconds * static_cast<double>(rank.wait + rank.stolen);
      rank.lost_per_step = static_cast<float>(rank.lost / steps);
      rank.excess = std::max(0.0, rank.lost - Usual(rank, seconds, steps));
    }
    rank.ever = true;
    rank.at = frame.received;
    rank.at_steps = steps_;
  }
}

/// Where a step lasts longer for want of a core, the usual share of a longer time would hide it;
/// where steps are quicker than usual, so would the usual time of a step.
double Starvation::Usual(const Rank& rank, double seconds, double steps) {
  if (rank.usual.size() == 0) return 0.0;
  const double by_time = seconds * static_cast<double>(rank.usual.Median());
  if (rank.usual_per_step.size() == 0) return by_time;
  return std::min(by_time, steps * static_cast<double>(rank.usual_per_step.Median()));
}

float Starvation::usual(std::size_t rank) const {
  const Recent& usual = ranks_[rank].usual;
  return usual.size() == 0 ? 0.0F : usual.Median();
}

bool Starvation::tells(std::size_t rank, signal::Time now) const {
  return ranks_[rank].ever && signal::Seconds(now - ranks_[rank].at) < kSoonSeconds;
}

void Starvation::Learn(std::size_t rank) {
  Rank& one = ranks_[rank];
  if (!one.told) return;
  one.usual.Add(share(rank));
  if (one.lost_per_step >= 0.0F) one.usual_per_step.Add(one.lost_per_step);
}

std::string Starvation::Describe(std::size_t r) const {
  const Rank& rank = ranks_[r];
  const std::string core =
      rank.core < 0.0F ? "its core" : fmt::format("core {}", static_cast<int>(rank.core));
  std::string text =
      fmt::format("it stood in the queue of {} for {:.0f} % of the time", core, 100.0F * rank.wait);
  if (rank.stolen > kShareTold)
    text += fmt::format(", lost {:.0f} % to other guests of the machine", 100.0F * rank.stolen);
  text += fmt::format(" ({:.0f} % before)", 100.0F * usual(r));
  if (rank.others > kShareTold)
    text += fmt::format("; others used {:.0f} % of that core", 100.0F * rank.others);
  return text;
}

}  // namespace ringward::detect
