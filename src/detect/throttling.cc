#include "detect/throttling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "signal/metric.h"

namespace ringward::detect {
namespace {

using signal::Known;

// A source that told it so lately is waited for.
constexpr double kTellsAgainSeconds = 3.0;

struct Reason {
  std::uint32_t bits;  ///< of NVML
  const char* text;
};
constexpr Reason kReasons[] = {
    {0x60, "too hot"}, {0x80, "its power supply brakes"}, {0x08, "its hardware slows it"}};

float FiniteOf(const signal::Column* column, std::size_t rank, float otherwise) {
  if (column == nullptr || rank >= column->values.size()) return otherwise;
  const float value = column->values[rank];
  return std::isfinite(value) ? value : otherwise;
}

const char* TextOf(float reasons) {
  const auto bits = static_cast<std::uint32_t>(std::clamp(reasons, 0.0F, 1e6F));
  for (const Reason& reason : kReasons) {
    if ((bits & reason.bits) != 0) return reason.text;
  }
  return "no reason told";
}

}  // namespace

void Throttling::Read(const signal::Frame& frame) {
  const signal::Column* const share = frame.Find(Known::kGpuHeldBack);
  // Most frames tell nothing of it.
  if (share == nullptr && !any_told_) return;
  any_told_ = share != nullptr;
  const signal::Column* const gpu = frame.Find(Known::kGpu);
  const signal::Column* const reasons = frame.Find(Known::kGpuReasons);
  const signal::Column* const celsius = frame.Find(Known::kGpuTemperature);
  const signal::Column* const hertz = frame.Find(Known::kGpuClock);
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    Rank& rank = ranks_[r];
    const float value = FiniteOf(share, r, -1.0F);
    rank.told = value >= 0.0F;
    if (!rank.told) continue;
    rank.share = std::min(value, 1.0F);
    rank.gpu = FiniteOf(gpu, r, rank.gpu);
    rank.reasons = FiniteOf(reasons, r, rank.reasons);
    rank.celsius = FiniteOf(celsius, r, 0.0F);
    rank.hertz = FiniteOf(hertz, r, 0.0F);
    rank.ever = true;
    rank.at = frame.received;
  }
}

bool Throttling::tells(std::size_t rank, signal::Time now) const {
  return ranks_[rank].ever && signal::Seconds(now - ranks_[rank].at) < kTellsAgainSeconds;
}

float Throttling::usual(std::size_t rank) const {
  const Recent& usual = ranks_[rank].usual;
  return usual.size() == 0 ? 0.0F : usual.Median();
}

void Throttling::Learn(std::size_t rank) {
  if (ranks_[rank].told) ranks_[rank].usual.Add(ranks_[rank].share);
}

std::string Throttling::Describe(std::size_t r, double share) const {
  const Rank& rank = ranks_[r];
  std::string text = fmt::format("its GPU{} was held back for {:.0f} % of the time ({}",
                                 rank.gpu < 0.0F ? "" : fmt::format(" {:.0f}", rank.gpu),
                                 100.0 * share, TextOf(rank.reasons));
  if (rank.hertz > 0.0F) text += fmt::format("; {:.0f} MHz", 1e-6F * rank.hertz);
  if (rank.celsius > 0.0F) text += fmt::format("; {:.0f} degrees", rank.celsius);
  return text + ")";
}

}  // namespace ringward::detect
