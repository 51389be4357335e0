#include "comm/reduce.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/rng.h"
#include "comm/half.h"

namespace ringward::comm {
namespace {

TEST(HalfTest, EveryNumberSurvivesTheWayToFloatAndBack) {
  for (std::uint32_t bits = 0; bits <= 0xFFFFU; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float a = FromFloat16(half);
    const float b = FromBFloat16(half);
    if (std::isnan(a)) {
      EXPECT_TRUE(std::isnan(FromFloat16(ToFloat16(a))));
    } else {
      ASSERT_EQ(ToFloat16(a), half);
    }
    if (std::isnan(b)) {
      EXPECT_TRUE(std::isnan(FromBFloat16(ToBFloat16(b))));
    } else {
      ASSERT_EQ(ToBFloat16(b), half);
    }
  }
}

TEST(HalfTest, RoundsToNearestEven) {
  const struct {
    float in;
    float as_half;
    float as_bfloat;
  } table[] = {
      {1.0F, 1.0F, 1.0F},
      {1.0F + 0x1p-11F, 1.0F, 1.0F},                       // a tie goes to the even neighbour
      {1.0F + 0x1p-10F + 0x1p-11F, 1.0F + 0x1p-9F, 1.0F},  // and here upwards
      {65519.0F, 65504.0F, 65536.0F},
      {65520.0F, INFINITY, 65536.0F},
      {0x1p-24F, 0x1p-24F, 0x1p-24F},  // the smallest subnormal half
      {0x1p-25F, 0.0F, 0x1p-25F},
      {0x1.8p-25F, 0x1p-24F, 0x1.8p-25F},
      {-0x1.FF8p-15F, -0x1.FF8p-15F, -0x1p-14F},
      {std::numeric_limits<float>::max(), INFINITY, INFINITY},
  };
  for (const auto& row : table) {
    EXPECT_EQ(FromFloat16(ToFloat16(row.in)), row.as_half) << row.in;
    EXPECT_EQ(FromBFloat16(ToBFloat16(row.in)), row.as_bfloat) << row.in;
  }
}

// The vector unit's conversion is taken for whole blocks of 8, the portable one for the rest: both
// must give the same bits, or a result would depend on where in a buffer an element lies.
TEST(ReduceTest, WholeBlocksAndTailsGiveTheSameBits) {
  Rng rng(5);
  std::vector<std::uint16_t> a(4096);
  std::vector<std::uint16_t> b(4096);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<std::uint16_t>(rng());
    b[i] = static_cast<std::uint16_t>(rng());
  }
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMin, ReduceOp::kMax, ReduceOp::kProduct}) {
      std::vector<std::uint16_t> whole(a.size());
      Combine(op, dtype, whole.data(), a.data(), b.data(), a.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        std::uint16_t one = 0;
        Combine(op, dtype, &one, &a[i], &b[i], 1);
        const auto wide = dtype == DType::kFloat16 ? FromFloat16 : FromBFloat16;
        if (std::isnan(wide(one))) {
          ASSERT_TRUE(std::isnan(wide(whole[i])));
        } else {
          ASSERT_EQ(whole[i], one) << NameOf(op) << " at " << i;
        }
      }
    }
  }
}

TEST(ReduceTest, OutputMayBeEitherInput) {
  for (const bool first : {true, false}) {
    std::vector<float> a(1001);
    std::vector<float> b(1001);
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<float>(i);
      b[i] = 1000.0F;
    }
    float* out = first ? a.data() : b.data();
    Combine(ReduceOp::kSum, DType::kFloat32, out, a.data(), b.data(), a.size());
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(out[i], static_cast<float>(i + 1000));
  }
}

TEST(ReduceTest, NanWinsOnEitherSide) {
  const double nan = std::nan("");
  for (const ReduceOp op : {ReduceOp::kMin, ReduceOp::kMax}) {
    for (const auto& [x, y] :
         {std::pair{nan, 1.0}, {1.0, nan}, {nan, INFINITY}, {-INFINITY, nan}}) {
      double out = 0;
      Combine(op, DType::kFloat64, &out, &x, &y, 1);
      EXPECT_TRUE(std::isnan(out)) << NameOf(op) << " of " << x << " and " << y;
    }
  }
}

}  // namespace
}  // namespace ringward::comm
