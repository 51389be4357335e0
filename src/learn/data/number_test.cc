#include "learn/data/number.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/rng.h"
#include "learn/data/timestamp.h"

namespace ringward::learn {
namespace {

TEST(NumberTest, TellsNumbersMissingAndText) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const struct {
    const char* text;
    CellKind kind;
    double value;
  } kCases[] = {
      {"0", CellKind::kNumber, 0},
      {"-0.5", CellKind::kNumber, -0.5},
      {"+1.5e2", CellKind::kNumber, 150},
      {" 7\t", CellKind::kNumber, 7},
      {".5", CellKind::kNumber, 0.5},
      {"5.", CellKind::kNumber, 5},
      {"1e400", CellKind::kNumber, kInf},
      {"-1e400", CellKind::kNumber, -kInf},
      {"1e-400", CellKind::kNumber, 0},
      {"inf", CellKind::kNumber, kInf},
      {"-Infinity", CellKind::kNumber, -kInf},
      {"12345678901234567890", CellKind::kNumber, 12345678901234567890.0},
      {"", CellKind::kMissing, 0},
      {"  ", CellKind::kMissing, 0},
      {"NA", CellKind::kMissing, 0},
      {"N/A", CellKind::kMissing, 0},
      {"nan", CellKind::kMissing, 0},
      {"None", CellKind::kMissing, 0},
      {"?", CellKind::kMissing, 0},
      {"-", CellKind::kMissing, 0},
      {".", CellKind::kText, 0},
      {"1,5", CellKind::kText, 0},
      {"0x10", CellKind::kText, 0},
      {"--1", CellKind::kText, 0},
      {"+-1", CellKind::kText, 0},
      {"1 2", CellKind::kText, 0},
      {"nan(1)", CellKind::kText, 0},
      {"none", CellKind::kText, 0},
      {"1e", CellKind::kText, 0},
      {"5ms", CellKind::kText, 0},
  };
  for (const auto& c : kCases) {
    double value = 0;
    EXPECT_EQ(ParseCell(c.text, value), c.kind) << c.text;
    if (c.kind == CellKind::kNumber) {
      EXPECT_EQ(value, c.value) << c.text;
    } else {
      EXPECT_TRUE(std::isnan(value)) << c.text;
    }
  }
}

/// The fast path must round exactly as the library does.
TEST(NumberTest, RoundsLikeStrtod) {
  Rng rng(11);
  for (int i = 0; i < 200'000; ++i) {
    std::string text = std::to_string(rng.Below(std::uint64_t{1} << (1 + rng.Below(60))));
    if (rng.Below(3) > 0) text.insert(rng.Below(text.size() + 1), ".");
    double value = 0;
    ASSERT_TRUE(ParseNumber(text, value)) << text;
    ASSERT_EQ(value, std::strtod(text.c_str(), nullptr)) << text;
  }
}

TEST(NumberTest, FormatsWhatReadsBack) {
  EXPECT_EQ(FormatNumber(1), "1");
  EXPECT_EQ(FormatNumber(-0.0), "0");
  EXPECT_EQ(FormatNumber(0.1), "0.1");
  Rng rng(12);
  for (int i = 0; i < 10'000; ++i) {
    const auto high = std::uint64_t{rng()};
    const double value = std::bit_cast<double>(high << 32 | rng());
    if (!std::isfinite(value)) continue;
    double back = 0;
    ASSERT_TRUE(ParseNumber(FormatNumber(value), back));
    ASSERT_EQ(back, value);
  }
}

TEST(NumberTest, WritesNumbersForPeople) {
  const struct {
    double value;
    const char* text;
  } kPlain[] = {{1.7e9, "1700000000"},     {-0.0, "0"},    {1e15, "1e+15"},
                {-1e12, "-1000000000000"}, {0.25, "0.25"}, {1e300, "1e+300"}};
  for (const auto& c : kPlain) EXPECT_EQ(PlainNumber(c.value), c.text);
  EXPECT_EQ(PlainNumber(0.1F), "0.1");
  const struct {
    double value;
    double sd;
    const char* text;
  } kRounded[] = {{1700000060.25, 1700, "1700000060.2"},
                  {41.23456, 3, "41.2346"},
                  {1234567.8, 1e6, "1234570"},
                  {0, 1, "0"},
                  {1.0000000001, 1e-12, "1.0000000001"},
                  {0.3, 1e-300, "0.3"},
                  {1e-9, 1e300, "1e-09"},
                  {1.7976931348623157e308, 1e308, "1.79769e+308"}};
  for (const auto& c : kRounded) EXPECT_EQ(RoundedNumber(c.value, c.sd), c.text);
}

TEST(TimeTest, ReadsNumbersAndIso8601) {
  const struct {
    const char* text;
    double seconds;
  } kCases[] = {
      {"12.5", 12.5},
      {"1970-01-02", 86400},
      {"1970/01/02 01:00", 90000},
      {"1970-01-01T00:00:01.25Z", 1.25},
      {"1970-01-01 02:00:00+02:00", 0},
      {"1970-01-01T00:00:00-0130", 5400},
      {"1969-12-31 23:59:59", -1},
      {"2014-07-01 00:30:00", 1404174600},
  };
  for (const auto& c : kCases) EXPECT_EQ(ParseTime(c.text), c.seconds) << c.text;
  for (const char* text : {"", "inf", "yesterday", "2014-13-01", "2014-02-30", "2014-07-01T", "1 2",
                           "2014-07-01 25:00", "2014-07-01 00:00:00 CET"}) {
    EXPECT_FALSE(ParseTime(text)) << text;
  }
}

}  // namespace
}  // namespace ringward::learn
