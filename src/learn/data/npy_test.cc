#include "learn/data/npy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "io/test_folder.h"
#include "io/test_zip.h"
#include "learn/data/table.h"
#include "learn/data/test_npy.h"

namespace ringward::learn {
namespace {

/// All cells in rows, or the error.
std::string ReadNpy(const std::string& bytes) {
  auto array = NpyArray::Open(io::FromMemory(bytes, "t"), "t: array");
  if (!array) return array.error().what();
  const std::size_t cols = (*array)->header().cols;
  std::string out;
  while ((*array)->rows_left() > 0) {
    std::vector<double> row(cols);
    std::vector<LongInteger> rounded;
    const auto read = (*array)->ReadRows(1, cols, row, rounded);
    if (!read) return read.error().what();
    std::size_t next = 0;
    for (std::size_t c = 0; c < cols; ++c) {
      std::array<char, 40> text;
      std::snprintf(text.data(), text.size(), "%.9g ", row[c]);
      const bool digits = next < rounded.size() && rounded[next].col == c;
      out += digits ? rounded[next++].digits + " " : std::string(text.data());
    }
    out.back() = '|';
  }
  return out;
}

TEST(NpyTest, ReadsEveryElementType) {
  const struct {
    const char* descr;
    std::string data;
    std::string expected;
  } kCases[] = {
      {"<f8", Raw<double>({1.5, -2}), "1.5|-2|"},
      {">f8", Raw<double>({1.5, -2}, true), "1.5|-2|"},
      {"<f4", Raw<float>({1.5, -2}), "1.5|-2|"},
      {">f4", Raw<float>({1.5, -2}, true), "1.5|-2|"},
      {"<f2", Raw<std::uint16_t>({0x3e00, 0xc000}), "1.5|-2|"},
      {">f2", Raw<std::uint16_t>({0x3e00, 0x0001}, true), "1.5|5.96046448e-08|"},
      {"<f2", Raw<std::uint16_t>({0x7c00, 0xfe00}), "inf|-nan|"},
      {"|b1", std::string("\x01\x00", 2), "1|0|"},
      {"|i1", Raw<std::int8_t>({-128, 127}), "-128|127|"},
      {"|u1", Raw<std::uint8_t>({0, 255}), "0|255|"},
      {"<i2", Raw<std::int16_t>({-32768, 5}), "-32768|5|"},
      {">u2", Raw<std::uint16_t>({65535, 5}, true), "65535|5|"},
      {"<i4", Raw<std::int32_t>({-7, 7}), "-7|7|"},
      {">i4", Raw<std::int32_t>({-7, 7}, true), "-7|7|"},
      {"<u4", Raw<std::uint32_t>({4294967295U, 7}), "4.2949673e+09|7|"},
      {"<i8", Raw<std::int64_t>({-7, 7}), "-7|7|"},
      {">u8", Raw<std::uint64_t>({1, 7}, true), "1|7|"},
      {"=i8", Raw<std::int64_t>({-7, 7}), "-7|7|"},
  };
  for (const auto& c : kCases) EXPECT_EQ(ReadNpy(NpyBytes(c.descr, "(2,)", c.data)), c.expected);
}

TEST(NpyTest, TellsIntegersThatADoubleDoesNotHold) {
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
  const std::string signs =
      Raw<std::int64_t>({9007199254740993, -9007199254740993, kLow, kLow + 1});
  const std::string all =
      "9007199254740993 -9007199254740993|-9.22337204e+18 -9223372036854775807|";
  EXPECT_EQ(ReadNpy(NpyBytes("<i8", "(2, 2)", signs)), all);
  EXPECT_EQ(ReadNpy(NpyBytes("<i8", "(2, 2)", signs, true)),
            "9007199254740993 -9.22337204e+18|-9007199254740993 -9223372036854775807|");
  EXPECT_EQ(ReadNpy(NpyBytes(
                ">u8", "(3,)",
                Raw<std::uint64_t>({9007199254740992U, 18446744073709551615U, 9223372036854775808U},
                                   true))),
            "9.00719925e+15|18446744073709551615|9.22337204e+18|");
}

TEST(NpyTest, ReadsBothOrders) {
  const std::string data = Raw<std::int16_t>({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(ReadNpy(NpyBytes("<i2", "(2, 3)", data)), "1 2 3|4 5 6|");
  EXPECT_EQ(ReadNpy(NpyBytes("<i2", "(2, 3)", data, true)), "1 3 5|2 4 6|");
  EXPECT_EQ(ReadNpy(NpyBytes("<i2", "(6,)", data, true)), "1|2|3|4|5|6|");
}

TEST(NpyTest, RefusesWhatItCannotRead) {
  const struct {
    std::string bytes;
    std::string expected;
  } kCases[] = {
      {NpyBytes("|O", "(3,)", ""),
       "t: array has the element type \"|O\", which is not a number this program reads"},
      {NpyBytes("<c16", "(3,)", ""),
       "t: array has the element type \"<c16\", which is not a number this program reads"},
      {NpyBytes("<f8", "()", ""), "t: array has 0 dimensions where 1 or 2 are expected"},
      {NpyBytes("<f8", "(1, 1, 1)", ""), "t: array has 3 dimensions where 1 or 2 are expected"},
      {NpyBytes("<f8", "(0, 3)", ""), "t: array has no rows"},
      {NpyBytes("<f8", "(3, 0)", ""), "t: array has no columns"},
      {NpyBytes("<f8", "(-3,)", ""), "t: array has a damaged header"},
      {NpyBytes("<f8", "(3.5,)", ""), "t: array has a damaged header"},
      {NpyBytes("<f8", "(4294967296, 4294967296)", ""), "t: array claims an impossible shape"},
      {NpyBytes("<f8", "(1, 3)", "12345678"), "t: ends early, 16 bytes are missing"},
      {NpyBytes("<f8", "(1099511627776, 1024)", "x", true),
       "t: ends early, 1048575 bytes are missing"},
      {std::string("\x93NUMPY\x09\x00\x01\x00{", 11),
       "t: array is no NPY array of a version this program reads"},
      {"\x93NUM", "t: ends early, 6 bytes are missing"},
  };
  for (const auto& c : kCases) EXPECT_EQ(ReadNpy(c.bytes), c.expected);
}

const std::string kRows = NpyBytes("<f8", "(2, 2)", Raw<double>({1, 2, 3, NAN}));
const std::string kLabels = NpyBytes("|u1", "(2,)", Raw<std::uint8_t>({0, 1}));

/// Names, roles and cells of an archive read for `purpose`, or the error.
std::string ReadArchive(const std::vector<io::TestMember>& members, Purpose purpose,
                        DataOptions options = {}) {
  const io::TestFolder folder;
  options.paths = {folder.Write("t.npz", io::ZipBytes(members))};
  const auto table = LoadTable(options, purpose);
  if (!table) return folder.Hide(table.error().what());
  std::string out;
  for (const Column& column : table->schema.columns) {
    out += column.name + (column.role == Role::kLabel ? "(label) " : " ");
  }
  for (const Block& block : table->blocks) {
    for (std::size_t r = 0; r < block.rows; ++r) {
      out += "|";
      for (std::size_t s = 0; s < block.slots; ++s) out += block.Text(r, s) + " ";
    }
  }
  return out;
}

TEST(NpzTest, ChoosesArraysByPurpose) {
  const std::string other = NpyBytes("<i4", "(1, 2)", Raw<std::int32_t>({8, 9}));
  const std::vector<io::TestMember> pair = {{"X.npy", kRows, true}, {"y.npy", kLabels}};
  const std::vector<io::TestMember> series = {
      {"train.npy", other}, {"test.npy", kRows}, {"test_label.npy", kLabels, true}};
  EXPECT_EQ(ReadArchive(pair, Purpose::kTrain), "1 2 y(label) |1 2 0 |3  1 ");
  EXPECT_EQ(ReadArchive(pair, Purpose::kScore), "1 2 y(label) |1 2 0 |3  1 ");
  EXPECT_EQ(ReadArchive(series, Purpose::kTrain), "1 2 |8 9 ");
  EXPECT_EQ(ReadArchive(series, Purpose::kScore), "1 2 test_label(label) |1 2 0 |3  1 ");
  EXPECT_EQ(ReadArchive({{"data.npy", other}}, Purpose::kTrain), "1 2 |8 9 ");
  DataOptions by_column;
  by_column.label = "2";
  EXPECT_EQ(ReadArchive(pair, Purpose::kTrain, by_column), "1 2(label) y |1 2 |3  ");
  DataOptions
      normal;  // the archive's own labels are labels; without them nothing tells normal rows
  normal.normal = {"1"};
  EXPECT_EQ(ReadArchive(pair, Purpose::kTrain, normal), "1 2 y(label) |1 2 0 |3  1 ");
  EXPECT_EQ(ReadArchive(series, Purpose::kScore, normal), "1 2 test_label(label) |1 2 0 |3  1 ");
  EXPECT_EQ(ReadArchive(series, Purpose::kTrain, normal),
            "--normal needs --label: t.npz does not say which column it is");
}

/// 2^53 and 2^53 + 1 have one double.
TEST(NpzTest, IntegersThatShareADoubleStayApart) {
  const std::string ids = Raw<std::int64_t>({9007199254740992, 9007199254740993, 9007199254740993});
  const std::string labels = Raw<std::uint64_t>({9007199254740993, 9007199254740992, 7});
  EXPECT_EQ(ReadArchive({{"X.npy", NpyBytes("<i8", "(3, 1)", ids)},
                         {"y.npy", NpyBytes("<u8", "(3,)", labels)}},
                        Purpose::kTrain),
            "1 y(label) |9007199254740992 9007199254740993 |9007199254740993 9007199254740992 "
            "|9007199254740993 7 ");
}

TEST(NpzTest, NamesFileAndArrayOfBadInput) {
  EXPECT_EQ(ReadArchive({{"a.npy", kRows}, {"b.npy", kRows}}, Purpose::kTrain),
            "t.npz: no array X or train in it; it holds \"a.npy\", \"b.npy\"");
  EXPECT_EQ(ReadArchive({{"X.npy", kRows}, {"y.npy", kRows}}, Purpose::kTrain),
            "t.npz: array \"y.npy\" has the shape (2, 2) where one label for each of 2 rows is "
            "expected");
  EXPECT_EQ(ReadArchive({{"X.npy", kRows, true, false, 1}}, Purpose::kTrain),
            "t.npz: zip member data fails its checksum");
}

}  // namespace
}  // namespace ringward::learn
