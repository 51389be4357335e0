#include "base/rng.h"

#include <cmath>
#include <numbers>

#include "base/check.h"

namespace ringward {

std::array<std::uint32_t, 4> Philox(std::array<std::uint32_t, 2> key,
                                    std::array<std::uint32_t, 4> c) {
  constexpr std::uint64_t kMul0 = 0xD2511F53;
  constexpr std::uint64_t kMul1 = 0xCD9E8D57;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = kMul0 * c[0];
    const std::uint64_t p1 = kMul1 * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return c;
}

Rng::Rng(std::uint64_t seed, RngPurpose purpose, std::uint64_t a, std::uint32_t b) {
  // The key is itself a Philox block of everything but the counter, so streams do not overlap.
  const auto mixed =
      Philox({static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
             {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(a >> 32), b,
              static_cast<std::uint32_t>(purpose)});
  key_ = {mixed[0], mixed[1]};
  counter_ = {0, 0, mixed[2], mixed[3]};
}

Rng::result_type Rng::operator()() {
  if (used_ == 4) {
    block_ = Philox(key_, counter_);
    if (++counter_[0] == 0) ++counter_[1];
    used_ = 0;
  }
  return block_[used_++];
}

double Rng::Uniform() {
  const std::uint64_t high = (*this)() >> 5;
  const std::uint64_t low = (*this)() >> 6;
  return static_cast<double>((high << 26) | low) * 0x1p-53;
}

std::uint64_t Rng::Below(std::uint64_t bound) {
  RINGWARD_CHECK(bound > 0);
  const std::uint64_t reject_below = (0 - bound) % bound;
  while (true) {
    const std::uint64_t high = (*this)();
    const std::uint64_t x = (high << 32) | (*this)();
    if (x >= reject_below) return x % bound;
  }
}

double Rng::Normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double radius = std::sqrt(-2.0 * std::log1p(-Uniform()));
  const double angle = 2.0 * std::numbers::pi * Uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

}  // namespace ringward
