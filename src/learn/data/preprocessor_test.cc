#include "learn/data/preprocessor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "base/rng.h"
#include "io/test_folder.h"
#include "learn/data/dataset.h"
#include "learn/data/missing.h"
#include "learn/data/table.h"

namespace ringward::learn {
namespace {

struct Fitted {
  std::string error;
  std::vector<Preprocessor> made;  ///< one, or none on an error
  Table table;
  const Preprocessor& operator*() const { return made.at(0); }
};

Fitted FitText(const std::string& text, DataOptions data = {}, const PreprocessOptions& how = {}) {
  const io::TestFolder folder;
  data.paths = {folder.Write("t.csv", text)};
  Fitted fitted;
  auto table = LoadTable(data, Purpose::kTrain);
  if (!table) {
    fitted.error = folder.Hide(table.error().what());
    return fitted;
  }
  fitted.table = *std::move(table);
  auto made = Preprocessor::Fit(fitted.table, {}, data, how);
  if (made) {
    fitted.made.push_back(*std::move(made));
  } else {
    fitted.error = folder.Hide(made.error().what());
  }
  return fitted;
}

/// The inputs of `text` under `model`, or the error; counts are added to `counts`.
Result<Matrix> Apply(const Preprocessor& model, const std::string& text, TransformCounts& counts,
                     DataOptions data = {}) {
  const io::TestFolder folder;
  data.paths = {folder.Write("s.csv", text)};
  auto stream = ScoringStream::Open(data, model);
  if (!stream) return Error(Code::kInvalidInput, folder.Hide(stream.error().what()));
  Matrix all(0, model.inputs());
  ScoringBatch batch;
  while (true) {
    const auto more = stream->Next(batch);
    if (!more) return Error(Code::kInvalidInput, folder.Hide(more.error().what()));
    if (!*more) break;
    all.rows += batch.inputs.rows;
    all.values.insert(all.values.end(), batch.inputs.values.begin(), batch.inputs.values.end());
  }
  counts.Add(stream->counts());
  return all;
}

std::string ApplyError(const Preprocessor& model, const std::string& text, DataOptions data = {}) {
  TransformCounts counts;
  const auto inputs = Apply(model, text, counts, std::move(data));
  return inputs ? "no error" : inputs.error().what();
}

std::string Names(const Preprocessor& model) {
  std::string names;
  for (std::size_t i = 0; i < model.inputs(); ++i) names += model.InputName(i) + "|";
  return names;
}

TEST(PreprocessorTest, LaysOutInputsByKind) {
  const auto fitted = FitText("n,hole,kind,same,empty\n1,5,a,7,\n2,,b,7,\n3,6,a,7,\n");
  ASSERT_EQ(fitted.error, "");
  EXPECT_EQ(Names(*fitted), "n|hole|hole missing|kind=a|kind=b|");
  ASSERT_EQ((*fitted).notes().size(), 2U);
  EXPECT_EQ((*fitted).notes()[0], "column \"same\" is left out: it is constant (\"7\")");
  EXPECT_EQ((*fitted).notes()[1], "column \"empty\" is left out: it has no value");
}

TEST(PreprocessorTest, StandardisesAndMarksWhatIsMissing) {
  const auto fitted = FitText("n,hole,kind\n1,5,a\n2,,b\n3,9,a\n");
  ASSERT_EQ(fitted.error, "");
  TransformCounts counts;
  const auto inputs = Apply(*fitted, "kind,hole,extra,n\nb,,x,2\nc,9,y,\n", counts);
  ASSERT_TRUE(inputs) << inputs.error().what();
  const auto sd = static_cast<float>(std::sqrt(2.0 / 3.0));
  // n, hole, hole missing, kind=a, kind=b; the mean of hole is 7, its deviation 2.
  const float gap = kMissingInput;
  const std::vector<float> expected = {0, gap, 1, 0, 1, gap, 1, 0, 0, 0};
  EXPECT_THAT(inputs->values, testing::Pointwise(testing::NanSensitiveFloatEq(), expected));
  EXPECT_EQ(counts.rows, 2U);
  EXPECT_EQ(counts.missing, (std::vector<std::uint64_t>{1, 1, 0}));
  EXPECT_EQ(counts.unseen, (std::vector<std::uint64_t>{0, 0, 1}));
  EXPECT_NEAR((*fitted).ToUnits(0, 1 / sd), 3, 1e-6);
}

TEST(PreprocessorTest, TellsNumbersByEnoughDigitsAndNeverByInfinity) {
  const auto fitted = FitText("t,huge\n1700000000,-1.7e308\n1700000060,1.7e308\n");
  ASSERT_EQ(fitted.error, "");
  EXPECT_EQ((*fitted).Describe(0, -1), "1700000000");
  EXPECT_EQ((*fitted).Describe(0, 1), "1700000060");
  EXPECT_EQ((*fitted).Describe(0, -1e9), "-28300000000");
  EXPECT_EQ((*fitted).Describe(1, -1e9), "-1.79769e+308");
}

TEST(PreprocessorTest, NamesTheCellThatIsNotANumber) {
  std::string many = "a,b\n";
  for (int i = 0; i < 200; ++i)
    many += std::to_string(i) + "," + (i == 150 ? "oops" : "1.5") + "\n";
  EXPECT_EQ(FitText(many).error, "t.csv:152: column \"b\": \"oops\" is text in a numeric column");
  EXPECT_EQ(FitText("a\n1\ninf\n").error, "t.csv:3: column \"a\": the value is infinite");
  DataOptions forced;
  forced.numeric = {"a"};
  EXPECT_EQ(FitText("a\n1\nx\ny\n", forced).error,
            "t.csv:3: column \"a\": \"x\" is text in a numeric column");
  EXPECT_EQ(FitText("a,b\n1,2\n1,2\n").error,
            "t.csv: no column is left to learn from: all are constant, dropped or without a value");
  const auto fitted = FitText("a,b\n1,2\n2,3\n");
  EXPECT_EQ(ApplyError(*fitted, "a,b\n1,2\n1,1e999\n"),
            "s.csv:3: column \"b\": the value is infinite");
  EXPECT_EQ(ApplyError(*fitted, "a,b\n1,2\nx\x01,2\n"),
            "s.csv:3: column \"a\": \"x\\x01\" is text in a numeric column");
}

TEST(PreprocessorTest, MatchesColumnsByNameElseByPlace) {
  const auto named = FitText("id,a,b\nu1,1,2\nu2,2,5\n", [] {
    DataOptions data;
    data.id = {"id"};
    return data;
  }());
  ASSERT_EQ(named.error, "");
  TransformCounts counts;
  const auto by_name = Apply(*named, "b,a\n2,1\n5,2\n", counts);
  const auto by_place = Apply(*named, "7,1,2\n8,2,5\n", counts);
  const auto inputs_only = Apply(*named, "1,2\n2,5\n", counts);
  ASSERT_TRUE(by_name && by_place && inputs_only);
  EXPECT_EQ(by_name->values, by_place->values);
  EXPECT_EQ(by_name->values, inputs_only->values);
  EXPECT_EQ(ApplyError(*named, "a,B1\n1,2\n"),
            "s.csv: no column \"b\", which the model needs; nearest: \"a\", \"B1\"");
  EXPECT_EQ(ApplyError(*named, "1,2,3,4\n"),
            "s.csv: has 4 columns where the model was trained on 3 (2 of them not a label, id or "
            "time)");
  DataOptions drop;
  drop.drop = {"b"};
  EXPECT_EQ(ApplyError(*named, "a,b\n1,2\n", drop),
            "s.csv: column \"b\" is dropped, but the model needs it");
  DataOptions id;
  id.id = {"b"};
  EXPECT_EQ(ApplyError(*named, "a,b\n1,2\n", id), "no error") << "an id may be an input too";
}

TEST(PreprocessorTest, ChoosesOneHotHashOrNothingForTexts) {
  const auto table = [](int rows, int levels) {
    std::string text = "k,v\n";
    for (int i = 0; i < rows; ++i) {
      text += "l" + std::to_string(i % levels) + "," + std::to_string(i) + "\n";
    }
    return text;
  };
  PreprocessOptions how;
  how.one_hot_max = 8;
  how.hash_buckets = 4;
  EXPECT_EQ((*FitText(table(100, 8), {}, how)).width(), 9U);
  const auto hashed = FitText(table(100, 9), {}, how);
  EXPECT_EQ(Names(*hashed), "k#0|k#1|k#2|k#3|v|");
  const auto unique = FitText(table(100, 95), {}, how);
  EXPECT_EQ(Names(*unique), "v|");
  DataOptions chosen;
  chosen.categorical = {"k"};
  EXPECT_EQ((*FitText(table(100, 95), chosen, how)).width(), 5U);
}

TEST(PreprocessorTest, TakesNumbersAsLevelsWhereAsked) {
  DataOptions data;
  data.categorical = {"port"};
  const auto fitted = FitText("port,v\n80,1\n80.0,2\n443,3\nhttp,4\n", data);
  ASSERT_EQ(fitted.error, "");
  EXPECT_EQ(Names(*fitted), "port=443|port=80|port=http|v|");
}

/// 2^53 + 1 and 2^53 have one double, and so have two integers of 25 digits.
TEST(PreprocessorTest, TellsIntegersApartThatADoubleDoesNot) {
  const std::string big = "9007199254740993";
  DataOptions names;
  names.categorical = {"id"};
  for (const DataOptions& data : {DataOptions(), names}) {
    const auto fitted = FitText("id,y\n9007199254740992,1\n" + big + ",2\n" + big + ",3\n", data);
    ASSERT_EQ(fitted.error, "");
    EXPECT_EQ(Names(*fitted), "id=9007199254740992|id=" + big + "|y|");
    TransformCounts counts;
    const auto inputs = Apply(*fitted, "y,id\n2," + big + "\n2,9007199254740994\n", counts);
    ASSERT_TRUE(inputs) << inputs.error().what();
    EXPECT_EQ(inputs->values, (std::vector<float>{0, 1, 0, 0, 0, 0}));
    EXPECT_EQ(counts.unseen, (std::vector<std::uint64_t>{1, 0}));
  }
  const auto constant = FitText("id,y\n" + big + ",1\n" + big + ",2\n", names);
  ASSERT_EQ(constant.error, "");
  TransformCounts counts;
  ASSERT_TRUE(Apply(*constant, "id,y\n9007199254740992,1\n" + big + ",2\n", counts));
  EXPECT_EQ(counts.unseen, (std::vector<std::uint64_t>{1, 0}));
  const auto hole = FitText("id,y\n" + big + ",1\n,2\n", names);
  ASSERT_EQ(hole.error, "");
  EXPECT_EQ(Names(*hole), "id=" + big + "|id missing|y|");
}

TEST(PreprocessorTest, StaysFiniteAtTheEdgesOfDouble) {
  const auto fitted = FitText("a,b\n1e308,1e-310\n-1e308,2e-310\n1.7e308,3e-310\n");
  ASSERT_EQ(fitted.error, "");
  TransformCounts counts;
  const auto inputs = Apply(*fitted, "a,b\n-1.7e308,1e308\n1e308,-1e308\n", counts);
  ASSERT_TRUE(inputs);
  for (const float x : inputs->values) EXPECT_TRUE(std::isfinite(x)) << x;
  EXPECT_EQ(inputs->values[1], 1e9F);
  EXPECT_NEAR(inputs->values[2], 0.3788, 1e-4);
}

TEST(PreprocessorTest, ClipsNumbersOnly) {
  PreprocessOptions how;
  how.clip = 2;
  how.indicators = IndicatorScaling::kStandard;
  std::string text = "a,k\n";
  for (int i = 0; i < 100; ++i) text += std::to_string(i % 2) + (i == 0 ? ",x\n" : ",y\n");
  const auto fitted = FitText(text, {}, how);
  TransformCounts counts;
  const auto inputs = Apply(*fitted, "a,k\n50,x\n", counts);
  ASSERT_TRUE(inputs);
  EXPECT_EQ(inputs->values[0], 2);
  EXPECT_NEAR(inputs->values[1], (1 - 0.01) / std::sqrt(0.01 * 0.99), 1e-4);
}

TEST(PreprocessorTest, WarnsOfDrift) {
  const auto fitted = FitText("a,b,c\n1,x,5\n2,y,5\n3,x,5\n");
  TransformCounts counts;
  ASSERT_TRUE(Apply(*fitted, "a,b,c\n9,x,5\n9,z,6\n9,z,6\n9,z,6\n", counts));
  const auto warnings = DriftWarnings(*fitted, counts);
  ASSERT_EQ(warnings.size(), 3U);
  EXPECT_EQ(warnings[0], "100 % of rows have \"a\" outside the training range (1 .. 3)");
  EXPECT_EQ(warnings[2],
            "75 % of rows have \"c\" other than its only value in training (\"5\"), which scores "
            "cannot show");
  EXPECT_EQ(warnings[1], "75 % of rows have a value of \"b\" that training never had");
  EXPECT_EQ(DriftWarnings(*fitted, counts, 1).size(), 1U);
}

/// Random tables with odd names and levels come back from TOML as they went in, bit for bit.
TEST(PreprocessorTomlTest, RoundTripsExactly) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    std::string text = "\"a \\ \"\"q\"\" %41 [x]\",caf\xe9,\xc3\xa9\n";
    for (int i = 0; i < 50; ++i) {
      const auto high = std::uint64_t{rng()};
      const double value = std::bit_cast<double>(high << 32 | rng());
      text += std::isfinite(value) ? std::to_string(value / 1e10) : "";
      text += ",\xff" + std::to_string(rng.Below(3)) + "%," + std::to_string(rng.Normal()) + "\n";
    }
    const auto fitted = FitText(text);
    ASSERT_EQ(fitted.error, "") << "seed " << seed;
    const std::string toml = (*fitted).ToToml();
    const auto back = Preprocessor::FromToml(toml, "p.toml");
    ASSERT_TRUE(back) << back.error().what() << " seed " << seed << "\n" << toml;
    EXPECT_EQ(back->ToToml(), toml) << "seed " << seed;
    EXPECT_EQ(Names(*back), Names(*fitted));
    for (std::size_t i = 0; i < back->width(); ++i) {
      EXPECT_EQ(back->input_info()[i].center, (*fitted).input_info()[i].center);
      EXPECT_EQ(back->input_info()[i].scale, (*fitted).input_info()[i].scale);
    }
  }
}

TEST(PreprocessorTomlTest, RefusesDamage) {
  const auto fitted = FitText("a,k\n1,x\n2,y\n,x\n");
  const std::string good = (*fitted).ToToml();
  const struct {
    std::string from, to, expected;
  } kCases[] = {
      {"format = 1", "format = 2", "p.toml: format 2 is newer than this program reads (1)"},
      {"format = 1", "format = -1", "p.toml: format should be a whole number from 1 to 1000000"},
      {"window = 1", "window = 0", "p.toml: window should be a whole number from 1 to 100000"},
      {"header = true", "header = 1", "p.toml: header should be true or false"},
      {"kind = \"numeric\"", "kind = \"magic\"",
       "p.toml: column 0: kind should be one of numeric, one-hot, hashed, dropped"},
      {"mean = 1.5", "mean = nan",
       "p.toml: column 0: mean should be a finite number with a decimal point"},
      {"levels = [\"x\", \"y\"]", "levels = [\"x\", \"x\"]",
       "p.toml: column 1: levels should be a list of different texts"},
      {"levels = [\"x\", \"y\"]", "levels = [\"x\"]",
       "p.toml: center and scale should have one number for each of 3 inputs"},
      {"position = 1", "position = 9",
       "p.toml: column 1: position should be a whole number from 0 to 1"},
      {"scale = [0.5", "scale = [0.0",
       "p.toml: center should be finite and scale above 0 (input 0)"},
  };
  for (const auto& c : kCases) {
    std::string bad = good;
    const std::size_t at = bad.find(c.from);
    ASSERT_NE(at, std::string::npos) << c.from << "\n" << good;
    bad.replace(at, c.from.size(), c.to);
    const auto read = Preprocessor::FromToml(bad, "p.toml");
    ASSERT_FALSE(read) << c.to;
    EXPECT_EQ(read.error().what(), c.expected);
  }
  for (std::size_t i = 0; i + 1 < good.size(); i += 3) {
    const auto cut = Preprocessor::FromToml(std::string_view(good).substr(0, i), "p.toml");
    EXPECT_FALSE(cut) << "cut at " << i;
  }
}

}  // namespace
}  // namespace ringward::learn
