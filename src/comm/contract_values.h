#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/rng.h"
#include "comm/communicator.h"
#include "comm/half.h"

// What the contract suite sends, and what it expects: computed here a second way, in double and
// element by element, from every rank's values (each rank can derive those of all others).
namespace ringward::comm::contract {

inline constexpr std::array kAllDTypes = {DType::kFloat16, DType::kBFloat16, DType::kFloat32,
                                          DType::kFloat64, DType::kInt32,    DType::kInt64};
inline constexpr std::array kFloatDTypes = {DType::kFloat16, DType::kBFloat16, DType::kFloat32,
                                            DType::kFloat64};
inline constexpr std::array kAllOps = {ReduceOp::kSum, ReduceOp::kAverage, ReduceOp::kMin,
                                       ReduceOp::kMax, ReduceOp::kProduct};

/// Typed memory of a test, with guard elements behind it that no engine may touch.
class Values {
 public:
  Values(DType dtype, std::size_t count)
      : dtype_(dtype), count_(count), bytes_((count + kGuard) * SizeOf(dtype), std::byte{0x5A}) {}
  Buffer buffer() { return {count_ == 0 ? nullptr : bytes_.data(), count_, dtype_}; }
  Buffer slice(std::size_t begin, std::size_t count) {
    return {bytes_.data() + begin * SizeOf(dtype_), count, dtype_};
  }
  std::size_t count() const { return count_; }
  DType dtype() const { return dtype_; }

  double Get(std::size_t i) const {
    switch (dtype_) {
      case DType::kFloat16:
        return FromFloat16(As<std::uint16_t>(i));
      case DType::kBFloat16:
        return FromBFloat16(As<std::uint16_t>(i));
      case DType::kFloat32:
        return As<float>(i);
      case DType::kFloat64:
        return As<double>(i);
      case DType::kInt32:
        return As<std::int32_t>(i);
      case DType::kInt64:
        return static_cast<double>(As<std::int64_t>(i));
    }
    return 0;
  }

  void Set(std::size_t i, double value) {
    switch (dtype_) {
      case DType::kFloat16:
        return Put(i, ToFloat16(static_cast<float>(value)));
      case DType::kBFloat16:
        return Put(i, ToBFloat16(static_cast<float>(value)));
      case DType::kFloat32:
        return Put(i, static_cast<float>(value));
      case DType::kFloat64:
        return Put(i, value);
      case DType::kInt32:
        return Put(i, static_cast<std::int32_t>(value));
      case DType::kInt64:
        return Put(i, static_cast<std::int64_t>(value));
    }
  }

  bool GuardIntact() const {
    return std::all_of(bytes_.begin() + static_cast<std::ptrdiff_t>(count_ * SizeOf(dtype_)),
                       bytes_.end(), [](std::byte b) { return b == std::byte{0x5A}; });
  }

 private:
  static constexpr std::size_t kGuard = 4;
  template <typename T>
  T As(std::size_t i) const {
    T value;
    std::memcpy(&value, bytes_.data() + i * sizeof(T), sizeof(T));
    return value;
  }
  template <typename T>
  void Put(std::size_t i, T value) {
    std::memcpy(bytes_.data() + i * sizeof(T), &value, sizeof(T));
  }

  DType dtype_;
  std::size_t count_;
  std::vector<std::byte> bytes_;
};

/// Rank `rank`'s element `i`: small numbers whose sums and products are exact in every type.
inline double ValueAt(std::uint64_t seed, int rank, std::size_t i, ReduceOp op) {
  Rng rng(seed, RngPurpose::kTest, i, static_cast<std::uint32_t>(rank));
  if (op == ReduceOp::kProduct) {
    constexpr std::array kFactors = {1.0, -1.0, 2.0, -2.0};
    return kFactors[rng.Below(kFactors.size())];
  }
  return static_cast<double>(rng.Below(9)) - 4.0;
}

inline void Fill(Values& values, std::uint64_t seed, int rank, ReduceOp op) {
  for (std::size_t i = 0; i < values.count(); ++i) values.Set(i, ValueAt(seed, rank, i, op));
}

inline bool IsInteger(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kInt64; }

/// What element `i` is after the reduction over `world` ranks.
inline double Expected(std::uint64_t seed, int world, std::size_t i, ReduceOp op, DType dtype) {
  double result = ValueAt(seed, 0, i, op);
  for (int rank = 1; rank < world; ++rank) {
    const double v = ValueAt(seed, rank, i, op);
    if (op == ReduceOp::kMin) {
      result = std::min(result, v);
    } else if (op == ReduceOp::kMax) {
      result = std::max(result, v);
    } else if (op == ReduceOp::kProduct) {
      result *= v;
    } else {
      result += v;
    }
  }
  if (op != ReduceOp::kAverage) return result;
  return IsInteger(dtype) ? std::trunc(result / world) : result / world;
}

/// How far a result may be from Expected(): only averages round.
inline double Tolerance(int world, ReduceOp op, DType dtype) {
  if (op != ReduceOp::kAverage || IsInteger(dtype)) return 0.0;
  switch (dtype) {
    case DType::kFloat16:
      return 0x1p-10 * 4.0 * world;
    case DType::kBFloat16:
      return 0x1p-7 * 4.0 * world;
    case DType::kFloat32:
      return 1e-6;
    default:
      return 1e-14;
  }
}

/// Empty if elements [0, count) of `got` are the reduction of elements [begin, begin + count);
/// else the first difference.
inline std::string DifferenceFromReduction(const Values& got, std::uint64_t seed, int world,
                                           ReduceOp op, std::size_t begin = 0) {
  if (!got.GuardIntact()) return "memory behind the buffer was written";
  const double tolerance = Tolerance(world, op, got.dtype());
  for (std::size_t i = 0; i < got.count(); ++i) {
    const double want = Expected(seed, world, begin + i, op, got.dtype());
    if (std::abs(got.Get(i) - want) <= tolerance) continue;
    return std::string(NameOf(op)) + " of " + NameOf(got.dtype()) + "[" +
           std::to_string(got.count()) + "] at " + std::to_string(i) + ": got " +
           std::to_string(got.Get(i)) + ", want " + std::to_string(want);
  }
  return {};
}

/// A vector of counts per rank that is uneven and has empty parts.
inline std::vector<std::size_t> UnevenCounts(int world, std::size_t scale) {
  std::vector<std::size_t> counts;
  for (int rank = 0; rank < world; ++rank) {
    counts.push_back(static_cast<std::size_t>((rank * 3 + 2) % 5) * scale);
  }
  return counts;
}

}  // namespace ringward::comm::contract
