#include <gtest/gtest.h>

#include <cmath>

#include "base/options.h"
#include "base/rng.h"

namespace ringward {
namespace {

enum class Color { kRed, kGreen, kBlue };

/// Every kind of target whose value can be drawn at random.
struct Values {
  bool flag = true;
  int whole = 1;
  std::uint64_t large = 1;
  double real = 1;
  float narrow = 1;
  std::string text = "x";
  std::optional<double> maybe;
  std::vector<std::string> texts{"default"};
  std::vector<std::int64_t> numbers{1, 2};
  Color color = Color::kRed;
  std::vector<Color> colors;
  std::chrono::nanoseconds span{1};
  std::uint64_t bytes = 1;
  std::vector<std::string> rest;
  bool operator==(const Values&) const = default;
};

struct Bound {
  Values values;
  OptionTable table;
  Bound() {
    const std::vector<std::pair<std::string, Color>> colors = {
        {"red", Color::kRed}, {"green", Color::kGreen}, {"blue", Color::kBlue}};
    table.Add("flag", &values.flag, "f");
    table.Add("whole", &values.whole, "w").Short("np");
    table.Add("large", &values.large, "l");
    table.Add("real", &values.real, "r");
    table.Add("narrow", &values.narrow, "n");
    table.Add("text", &values.text, {.allow_empty = true}, "t");
    table.Add("maybe-real", &values.maybe, "m");
    table.Add("texts", &values.texts, {.allow_empty = true}, "t");
    table.Add("numbers", &values.numbers, "n");
    table.AddChoice("color", &values.color, colors, "c");
    table.AddChoice("colors", &values.colors, colors, "c");
    table.Add("span", &values.span, "s");
    table.AddBytes("bytes", &values.bytes, {}, "b");
    table.AddPositional("rest", &values.rest, {.allow_empty = true}, "p");
    table.AddBuiltIns();
    table.SetSections("train", {"score"});
  }
};

std::string RandomText(Rng& rng) {
  static const std::vector<std::string> kPieces = {
      "a", "-",    "--", "=",  ",",  " ", "\n", "\"", "\\",    "'", "#",   "[",
      "ä", "\x01", "0",  "-1", "--", "x", "np", "\t", "--no-", "€", "1e3", "true"};
  std::string text;
  for (std::uint64_t n = rng.Below(6); n > 0; --n) text += kPieces[rng.Below(kPieces.size())];
  return text;
}

std::vector<std::string> RandomTexts(Rng& rng) {
  std::vector<std::string> texts(rng.Below(4));
  for (std::string& text : texts) text = RandomText(rng);
  return texts;
}

Values RandomValues(Rng& rng) {
  const auto word = [&] {
    const std::uint64_t high = rng();
    return (high << 32 | rng()) >> (1 + rng.Below(63));
  };
  const auto real = [&] { return rng.Normal() * std::pow(10.0, rng.Normal() * 30); };
  Values v;
  v.flag = rng.Below(2) == 0;
  v.whole = static_cast<int>(word()) * (rng.Below(2) == 0 ? 1 : -1);
  v.large = word();
  v.real = real();
  v.narrow = static_cast<float>(rng.Normal());
  v.text = RandomText(rng);
  if (rng.Below(2) == 0) v.maybe = real();
  v.texts = RandomTexts(rng);
  for (v.numbers.clear(); rng.Below(3) > 0;)
    v.numbers.push_back(static_cast<std::int64_t>(word()) - 1000);
  v.color = static_cast<Color>(rng.Below(3));
  while (rng.Below(3) > 0) v.colors.push_back(static_cast<Color>(rng.Below(3)));
  v.span = std::chrono::nanoseconds(static_cast<std::int64_t>(word()));
  v.bytes = word();
  v.rest = RandomTexts(rng);
  return v;
}

TEST(OptionRandomTest, ArgumentsAndTomlCarryEveryValue) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Bound sender;
    sender.values = RandomValues(rng);
    Bound by_args;
    const Status parsed = by_args.table.ParseArgs(sender.table.ToArgs());
    ASSERT_TRUE(parsed) << parsed.error().what();
    ASSERT_TRUE(by_args.values == sender.values) << testing::PrintToString(sender.table.ToArgs());
    Bound by_file;
    const Status applied = by_file.table.ApplyToml(sender.table.ToToml(), "f");
    ASSERT_TRUE(applied) << applied.error().what() << "\n" << sender.table.ToToml();
    ASSERT_TRUE(by_file.values == sender.values) << sender.table.ToToml();
  }
}

/// 1 for an error, which must be one line of sane length; 0 for success.
int CheckRefusal(const Status& status) {
  if (status) return 0;
  const std::string& line = status.error().what();
  EXPECT_FALSE(line.empty());
  EXPECT_LT(line.size(), 2'000U);
  EXPECT_EQ(line.find_first_of("\n\r\x1b"), std::string::npos) << line;
  return 1;
}

TEST(OptionRandomTest, NonsenseIsOneLineOrAccepted) {
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Bound bound;
    std::vector<std::string> names = {"--"};
    for (const Option& option : bound.table.options()) {
      if (option.name() != "config" && option.name() != "help")
        names.push_back("--" + option.name());
    }
    std::vector<std::string> args;
    for (std::uint64_t n = rng.Below(8); n > 0; --n) {
      args.push_back(rng.Below(2) == 0 ? RandomText(rng) : names[rng.Below(names.size())]);
    }
    const Status parsed = bound.table.ParseArgs(args);
    refused += CheckRefusal(parsed);
    std::string toml;
    for (std::uint64_t n = rng.Below(8); n > 0; --n) {
      const std::string& name = names[rng.Below(names.size())];
      toml += name.substr(2) + " = " + RandomText(rng) + "\n";
    }
    const Status applied = bound.table.ApplyToml(toml, "f");
    refused += CheckRefusal(applied);
  }
  EXPECT_GT(refused, 1'000);  // the generator reaches the errors
}

}  // namespace
}  // namespace ringward
