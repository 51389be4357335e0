// Random numbers keyed by row: every lane of a vector is one row of a panel with its own Philox
// counter (row, epoch, index); the key belongs to (seed, purpose, member, layer). So a number
// depends on nothing else: not on the batch, the position in it, the rank or the lane.
#pragma once

#include "learn/dense/kernel/math.h"

namespace ringward::learn::RINGWARD_KERNELS {

/// Philox4x32-10 of base/rng.h on kLanes counters at once. Even and odd lanes are kept apart in
/// 64-bit lanes of which only the low half counts, as the multiplication needs them.
struct Philox4 {
  W even[4], odd[4];

  void Round(std::uint32_t key0, std::uint32_t key1) {
    Half(even, key0, key1);
    Half(odd, key0, key1);
  }
  static void Half(W (&c)[4], std::uint32_t key0, std::uint32_t key1) {
    const W p0 = MulLow(c[0], W{} + 0xD2511F53U);
    const W p1 = MulLow(c[2], W{} + 0xCD9E8D57U);
    c[0] = (p1 >> 32) ^ c[1] ^ (W{} + key0);
    c[1] = p1;
    c[2] = (p0 >> 32) ^ c[3] ^ (W{} + key1);
    c[3] = p0;
  }
};

/// Words 4 * group .. 4 * group + 3 of each row's stream, rows `first` .. first + kLanes - 1.
inline void RandomWords(const RowStream& stream, const PanelKeys& keys, std::size_t first,
                        std::uint32_t group, U (&words)[4]) {
  const U counter[4] = {LoadU(keys.row_low + first), LoadU(keys.row_high + first),
                        LoadU(keys.epoch + first), SplatU(group)};
  Philox4 philox;
  for (int i = 0; i < 4; ++i) {
    philox.even[i] = reinterpret_cast<W>(counter[i]);
    philox.odd[i] = philox.even[i] >> 32;
  }
  std::uint32_t key0 = stream.key[0];
  std::uint32_t key1 = stream.key[1];
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    philox.Round(key0, key1);
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  for (int i = 0; i < 4; ++i) {
    words[i] = reinterpret_cast<U>((philox.even[i] & 0xFFFFFFFFU) | (philox.odd[i] << 32));
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

inline void AddNoise(const Panels& in, const RowStream& stream, float sd, std::size_t panels,
                     const Panels& out) {
  for (std::size_t p = 0; p < panels; ++p) {
    const float* x = in.At(p);
    float* y = out.At(p);
    for (std::size_t first = 0; first < kPanelRows; first += kStep) {
      for (std::size_t j = 0; j < in.width; j += 4) {
        U words[4];
        RandomWords(stream, stream.rows[p], first, static_cast<std::uint32_t>(j / 4), words);
        F z[4];
        Normals(words[0], words[1], &z[0], &z[1]);
        Normals(words[2], words[3], &z[2], &z[3]);
        for (std::size_t q = 0; q < 4 && j + q < in.width; ++q) {
          const std::size_t i = (j + q) * kPanelRows + first;
          Store(y + i, Fma(z[q], Splat(sd), Load(x + i)));
        }
      }
    }
  }
}

/// Drops units of one panel: y and slope are multiplied by 0 or keep_scale.
inline void Dropout(const DropoutArgs& args, std::size_t panel, std::size_t width, float* y,
                    float* slope) {
  // Unsigned comparison by signed instructions: the sign bits of both sides are flipped.
  const I limit = reinterpret_cast<I>(SplatU(args.drop_below ^ 0x80000000U));
  for (std::size_t first = 0; first < kPanelRows; first += kStep) {
    for (std::size_t j = 0; j < width; j += 4) {
      U words[4];
      RandomWords(args.stream, args.stream.rows[panel], first, static_cast<std::uint32_t>(j / 4),
                  words);
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
