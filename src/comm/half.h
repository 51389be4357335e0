#pragma once

#include <bit>
#include <cstdint>

namespace ringward::comm {

/// Half-precision numbers as bits, and their conversions to and from float32. All roundings are to
/// nearest, ties to even; NaN stays NaN; what is too large becomes infinity.

/// bfloat16: the upper half of a float32.
inline float FromBFloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

inline std::uint16_t ToBFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // Rounding would carry a NaN whose payload is all ones over into zero, hence the quiet bit alone.
  if (value != value) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

/// IEEE 754 binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits.
inline float FromFloat16(std::uint16_t bits) {
  const std::uint32_t sign = (static_cast<std::uint32_t>(bits) & 0x8000U) << 16;
  const std::uint32_t rest = static_cast<std::uint32_t>(bits) & 0x7FFFU;
  if (rest >= 0x7C00U) {  // infinity or NaN: widest exponent, fraction kept
    return std::bit_cast<float>(sign | 0x7F800000U | ((rest & 0x3FFU) << 13));
  }
  // Placing the 15 bits one float exponent field higher scales by 2^-112; the product undoes it
  // exactly, for subnormal numbers too.
  const float scaled = std::bit_cast<float>(rest << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(scaled));
}

inline std::uint16_t ToFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t rest = bits & 0x7FFFFFFFU;
  if (rest > 0x7F800000U)
    return static_cast<std::uint16_t>(sign | 0x7E00U | ((rest >> 13) & 0x3FFU));
  if (rest >= 0x477FF000U) return static_cast<std::uint16_t>(sign | 0x7C00U);  // 65520 and above
  if (rest < 0x38800000U) {  // below 2^-14: subnormal in half
    // Adding 0.5 puts the last half-precision bit into float's last place, so the addition rounds.
    const float shifted = std::bit_cast<float>(rest) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U));
  }
  const std::uint32_t rounded = rest + 0xFFFU + ((rest >> 13) & 1U) - 0x38000000U;
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
}

}  // namespace ringward::comm
