#include "base/text_value.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/nearest_name.h"
#include "base/rng.h"
#include "base/utf8.h"

namespace ringward {
namespace {

using std::chrono::nanoseconds;

struct DurationCase {
  const char* text;
  std::optional<std::int64_t> ns;
};

class DurationTest : public testing::TestWithParam<DurationCase> {};

TEST_P(DurationTest, IsReadOrRefused) {
  const auto parsed = ParseDuration(GetParam().text);
  ASSERT_EQ(parsed.has_value(), GetParam().ns.has_value()) << GetParam().text;
  if (parsed) {
    EXPECT_EQ(parsed->count(), *GetParam().ns) << GetParam().text;
  }
}

constexpr DurationCase kDurationCases[] = {{"30s", 30'000'000'000},
                                           {"500ms", 500'000'000},
                                           {"2m", 120'000'000'000},
                                           {"2min", 120'000'000'000},
                                           {"1.5h", 5'400'000'000'000},
                                           {"1d", 86'400'000'000'000},
                                           {"7us", 7'000},
                                           {"9ns", 9},
                                           {"0s", 0},
                                           {"-3s", -3'000'000'000},
                                           {"1e3ms", 1'000'000'000},
                                           {".5s", 500'000'000},
                                           {"30", {}},
                                           {"", {}},
                                           {"s", {}},
                                           {"3 s", {}},
                                           {"3S", {}},
                                           {"3sec", {}},
                                           {"1m30s", {}},
                                           {"1,5s", {}},
                                           {"nans", {}},
                                           {"infs", {}},
                                           {"200000d", {}},
                                           {"1e300s", {}},
                                           {"9223372036854775807ns", INT64_MAX},
                                           {"9223372036854775808ns", {}}};
INSTANTIATE_TEST_SUITE_P(Table, DurationTest, testing::ValuesIn(kDurationCases));

struct BytesCase {
  const char* text;
  std::optional<std::uint64_t> bytes;
};

class BytesTest : public testing::TestWithParam<BytesCase> {};

TEST_P(BytesTest, AreReadOrRefused) {
  EXPECT_EQ(ParseBytes(GetParam().text), GetParam().bytes) << GetParam().text;
}

constexpr BytesCase kBytesCases[] = {{"0", 0},
                                     {"4096", 4096},
                                     {"64K", 65536},
                                     {"64k", 65536},
                                     {"64KB", 65536},
                                     {"64KiB", 65536},
                                     {"1.5M", 1572864},
                                     {"2G", std::uint64_t{2} << 30},
                                     {"1T", std::uint64_t{1} << 40},
                                     {"18446744073709551615", UINT64_MAX},
                                     {"", {}},
                                     {"K", {}},
                                     {"-1", {}},
                                     {"-1K", {}},
                                     {"64X", {}},
                                     {"64KK", {}},
                                     {"64 K", {}},
                                     {"1.5", {}},
                                     {"18446744073709551616", {}},
                                     {"99999999T", {}}};
INSTANTIATE_TEST_SUITE_P(Table, BytesTest, testing::ValuesIn(kBytesCases));

TEST(RealTest, RefusesWhatIsNoFiniteNumber) {
  for (const char* text :
       {"", "x", "nan", "inf", "-inf", "1e400", "1,5", " 1", "1 ", "0x10", "+-1", "1_0"}) {
    EXPECT_FALSE(ParseReal(text)) << text;
  }
  EXPECT_EQ(ParseReal("+1.5"), 1.5);
  EXPECT_EQ(ParseReal("-1e-3"), -1e-3);
}

TEST(IntegerTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(ParseInteger<int>("+7"), 7);
  EXPECT_EQ(ParseInteger<int>("-2147483648"), INT32_MIN);
  EXPECT_FALSE(ParseInteger<int>("2147483648"));
  EXPECT_FALSE(ParseInteger<unsigned>("-1"));
  for (const char* text : {"", "+", "+-1", "1.0", "1e3", " 1", "0x1"}) {
    EXPECT_FALSE(ParseInteger<int>(text)) << text;
  }
}

TEST(FormatTest, IsReadBackToTheSameValue) {
  constexpr std::uint64_t kSeed = 11;
  Rng rng(kSeed);
  const auto word = [&] {
    const std::uint64_t high = rng();
    return ((high << 32) | rng()) >> rng.Below(64);
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t bits = word();
    const auto real = std::bit_cast<double>(bits << rng.Below(64));
    if (std::isfinite(real)) {
      EXPECT_EQ(ParseReal(FormatReal(real)), real) << "seed " << kSeed;
    }
    EXPECT_EQ(ParseBytes(FormatBytes(bits)), bits) << bits << ", seed " << kSeed;
    const nanoseconds span(static_cast<std::int64_t>(bits) * (i % 2 == 0 ? 1 : -1));
    if (span.count() == INT64_MIN) continue;
    EXPECT_EQ(ParseDuration(FormatDuration(span)), span) << span.count() << ", seed " << kSeed;
  }
}

TEST(FormatTest, PrefersTheLargestWholeUnit) {
  EXPECT_EQ(FormatDuration(std::chrono::seconds(90)), "90s");
  EXPECT_EQ(FormatDuration(std::chrono::minutes(120)), "2h");
  EXPECT_EQ(FormatDuration(nanoseconds(1'500'000)), "1500us");
  EXPECT_EQ(FormatBytes(65536), "64KiB");
  EXPECT_EQ(FormatBytes(1000), "1000");
}

TEST(PrintableTest, KeepsOneLineAndWholeLetters) {
  EXPECT_EQ(Printable("a\nb\t\x1b\x7f"), "a\\nb\\t\\x1b\\x7f");
  EXPECT_EQ(Printable("Größe"), "Größe");
  EXPECT_EQ(Printable("aäb", 2), "a...");
  EXPECT_EQ(Printable(std::string(100, 'x'), 3), "xxx...");
  EXPECT_EQ(Printable(""), "");
}

TEST(NearestNameTest, SuggestsWhatWasMeant) {
  const std::vector<std::string> names = {"learning-rate", "epochs", "batch", "np"};
  EXPECT_EQ(EditDistance("abcd", "acbd"), 1U);
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
  EXPECT_EQ(NearestName("learing-rate", names), "learning-rate");
  EXPECT_EQ(NearestName("ephocs", names), "epochs");
  EXPECT_EQ(NearestName("lea", names), "learning-rate");
  EXPECT_EQ(NearestName("zzz", names), "");
  EXPECT_EQ(NearestName("", names), "");
  EXPECT_EQ(NearestName(std::string(100'000, 'e'), names), "");
  EXPECT_EQ(DidYouMean("btach", names, "--"), " (did you mean --batch?)");
  EXPECT_EQ(DidYouMean("x", {}), "");
}

TEST(Utf8Test, TellsTheLengthOfTheFirstLetter) {
  const std::pair<std::string, std::size_t> cases[] = {
      {"", 0},
      {"ab", 1},
      {"µ€", 2},
      {"€", 3},
      {"𝄞", 4},
      {"\xbc", 0},               // no lead byte
      {"\xc0\xbc", 0},           // '<' in two bytes
      {"\xe0\x80\xbc", 0},       // and in three
      {"\xf0\x80\x80\xbc", 0},   // and in four
      {"\xe2\x82", 0},           // cut short
      {"\xed\xa0\x80", 0},       // a surrogate
      {"\xf4\x90\x80\x80", 0},   // above U+10FFFF
      {"\xf8\x88\x80\x80", 0}};  // no lead byte of today
  for (const auto& [text, length] : cases) EXPECT_EQ(Utf8Length(text), length) << text;
}

TEST(Utf8Test, EscapedBytesArePrintableAndComeBack) {
  const std::pair<std::string, std::string> cases[] = {
      {"", ""}, {"größe", "größe"}, {"5 %", "5 %25"}, {"a\nb\x7f", "a%0Ab%7F"}, {"\xe4", "%E4"}};
  for (const auto& [bytes, escaped] : cases) {
    EXPECT_EQ(EscapeBytes(bytes), escaped);
    EXPECT_EQ(UnescapeBytes(escaped), bytes);
  }
  EXPECT_EQ(UnescapeBytes("100 %, %4"), "100 %, %4") << "what was never escaped stays";
}

}  // namespace
}  // namespace ringward
