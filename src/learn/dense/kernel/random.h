// Random numbers keyed by row: every lane of a vector is one row of a panel with its own Philox
// counter (row, epoch, index); the key belongs to (seed, purpose, member, layer). So a number
// depends on nothing else: not on the batch, the position in it, the rank or the lane.
#pragma once

#include "learn/dense/kernel/math.h"

namespace ringward::learn::RINGWARD_KERNELS {

/// The keys of Philox's ten rounds, the same in every lane.
struct RoundKeys {
  W first[10], second[10];
  explicit RoundKeys(const RowStream& stream) {
    std::uint32_t a = stream.key[0];
    std::uint32_t b = stream.key[1];
    for (int round = 0; round < 10; ++round) {
      first[round] = W{} + a;
      second[round] = W{} + b;
      a += 0x9E3779B9U;
      b += 0xBB67AE85U;
    }
  }
};

/// One round of Philox4x32 (base/rng.h) on the low halves of 64-bit lanes.
inline void PhiloxRound(const RoundKeys& keys, int round, W (&c)[4]) {
  const W p0 = MulLow(c[0], W{} + 0xD2511F53U);
  const W p1 = MulLow(c[2], W{} + 0xCD9E8D57U);
  c[0] = (p1 >> 32) ^ c[1] ^ keys.first[round];
  c[1] = p1;
  c[2] = (p0 >> 32) ^ c[3] ^ keys.second[round];
  c[3] = p0;
}

/// Words 4 * group .. 4 * group + 3 of each row's stream, rows `first` .. first + kLanes - 1.
/// Even and odd lanes are apart, as the multiplication needs them.
inline void RandomWords(const RoundKeys& keys, const PanelKeys& rows, std::size_t first,
                        std::uint32_t group, U (&words)[4]) {
  const U counter[4] = {LoadU(rows.row_low + first), LoadU(rows.row_high + first),
                        LoadU(rows.epoch + first), SplatU(group)};
  W even[4];
  W odd[4];
  for (int i = 0; i < 4; ++i) {
    even[i] = reinterpret_cast<W>(counter[i]);
    odd[i] = even[i] >> 32;
  }
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    PhiloxRound(keys, round, even);
    PhiloxRound(keys, round, odd);
  }
  for (int i = 0; i < 4; ++i) {
    words[i] = reinterpret_cast<U>((even[i] & 0xFFFFFFFFU) | (odd[i] << 32));
  }
}

/// Two independent standard normals a lane from two words (Box and Muller, 1958). Tails end at 6.6.
inline void Normals(U a, U b, F* z0, F* z1) {
  const I shifted = reinterpret_cast<I>(a >> 1);
  const F uniform = Fma(__builtin_convertvector(shifted, Loose), Splat(0x1p-31F), Splat(0x1p-32F));
  const F radius = Sqrt(Splat(-2.0F) * Log(Min(Splat(1.0F), uniform)));
  // b: the low 30 bits are an angle in [-pi/4, pi/4); bit 30 swaps the axes, bit 31 is a sign.
  const I angle = (reinterpret_cast<I>(b) & 0x3FFFFFFF) - 0x20000000;
  F sin;
  F cos;
  SinCos(__builtin_convertvector(angle, Loose) * Splat(0x1p-30F * 1.57079633F), &sin, &cos);
  cos = AsF(AsI(cos) ^ (reinterpret_cast<I>(b) & static_cast<std::int32_t>(0x80000000)));
  const I swap = reinterpret_cast<I>(b << 1) >> 31;
  *z0 = radius * Select(swap, sin, cos);
  *z1 = radius * Select(swap, cos, sin);
}

/// Groups of four words drawn before they are used. Drawing and using are two long chains of
/// dependent instructions; in loops of their own the processor overlaps several groups of each.
inline constexpr std::size_t kGroups = 16;

/// Noise of rows `first` .. first + kLanes - 1 of one panel, features from .. to.
inline void AddNoiseChunk(const RoundKeys& keys, const PanelKeys& rows, std::size_t first, F sd,
                          std::size_t from, std::size_t to, const float* x, float* y) {
  U words[kGroups][4];
  for (std::size_t j = from; j < to; j += 4) {
    RandomWords(keys, rows, first, static_cast<std::uint32_t>(j / 4), words[(j - from) / 4]);
  }
  for (std::size_t j = from; j < to; j += 4) {
    const U(&w)[4] = words[(j - from) / 4];
    F z[4];
    Normals(w[0], w[1], &z[0], &z[1]);
    Normals(w[2], w[3], &z[2], &z[3]);
    for (std::size_t q = 0; q < 4 && j + q < to; ++q) {
      const std::size_t i = (j + q) * kPanelRows + first;
      Store(y + i, Fma(z[q], sd, Load(x + i)));
    }
  }
}

inline void AddNoise(const Panels& in, const RowStream& stream, float sd, std::size_t panels,
                     const Panels& out) {
  const RoundKeys keys(stream);
  for (std::size_t p = 0; p < panels; ++p) {
    for (std::size_t from = 0; from < in.width; from += kGroups * 4) {
      const std::size_t to = in.width - from < kGroups * 4 ? in.width : from + kGroups * 4;
      for (std::size_t first = 0; first < kPanelRows; first += kStep) {
        AddNoiseChunk(keys, stream.rows[p], first, Splat(sd), from, to, in.At(p), out.At(p));
      }
    }
  }
}

/// Drops units of one panel: y and slope are multiplied by 0 or keep_scale.
inline void Dropout(const DropoutArgs& args, std::size_t panel, std::size_t width, float* y,
                    float* slope) {
  const RoundKeys keys(args.stream);
  // Unsigned comparison by signed instructions: the sign bits of both sides are flipped.
  const I limit = reinterpret_cast<I>(SplatU(args.drop_below ^ 0x80000000U));
  for (std::size_t first = 0; first < kPanelRows; first += kStep) {
    for (std::size_t j = 0; j < width; j += 4) {
      U words[4];
      RandomWords(keys, args.stream.rows[panel], first, static_cast<std::uint32_t>(j / 4), words);
      for (std::size_t q = 0; q < 4 && j + q < width; ++q) {
        const std::size_t i = (j + q) * kPanelRows + first;
        const I kept = reinterpret_cast<I>(words[q] ^ 0x80000000U) >= limit;
        const F scale = AsF(kept & AsI(Splat(args.keep_scale)));
        Store(y + i, Load(y + i) * scale);
        Store(slope + i, Load(slope + i) * scale);
      }
    }
  }
}

}  // namespace ringward::learn::RINGWARD_KERNELS
