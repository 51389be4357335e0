#include "base/options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/exit_code.h"

namespace ringward {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

enum class Engine { kAuto, kMpi, kGloo };

/// One option of every kind, as a subcommand would have them.
struct Sample {
  std::vector<std::string> data;
  std::string label;
  std::optional<std::string> out;
  int epochs = 50;
  std::int64_t rows = 0;
  std::uint64_t seed = 0;
  double rate = 0.001;
  float keep = 0.5F;
  std::optional<double> alarm;
  std::vector<int> hidden{128, 64};
  std::vector<double> noise;
  Engine engine = Engine::kAuto;
  std::vector<Engine> engines;
  milliseconds timeout{30'000};
  std::chrono::duration<double> pause{1};
  std::uint32_t bytes = 1024;
  bool shuffle = true;
  bool dry_run = false;
  int ranks = 1;
  std::string hosts;
  std::vector<std::string> files;
};

const std::vector<std::pair<std::string, Engine>> kEngines = {
    {"auto", Engine::kAuto}, {"mpi", Engine::kMpi}, {"gloo", Engine::kGloo}};

void Fill(OptionTable& table, Sample& o) {
  table.Group("Data");
  table.Add("data", &o.data, {.what = "files or globs"}, "rows to read")
      .Complete(Completion::kFile);
  table.Add("label", &o.label, {.what = "a column", .allow_empty = true}, "the label");
  table.Add("out", &o.out, {.what = "a folder"}, "where to write").Complete(Completion::kFolder);
  table.Group("Training");
  table.Add("epochs", &o.epochs, {.min = 1, .max = 100'000}, "passes over the data");
  table.Add("rows", &o.rows, {.min = 0}, "rows");
  table.Add("seed", &o.seed, "seed of all random numbers");
  table.Add("learning-rate", &o.rate, {.min = 0, .max = 1, .min_exclusive = true}, "step size");
  table.Add("keep", &o.keep, {.min = 0, .max = 1, .max_exclusive = true}, "share that is kept");
  table.Add("false-alarm-rate", &o.alarm, kProbability, "alarms on normal rows");
  table.Add("hidden", &o.hidden, {.min = 1}, "widths of the hidden layers");
  table.Add("noise", &o.noise, "standard deviations");
  table.AddChoice("engine", &o.engine, kEngines, "collectives");
  table.AddChoice("engines", &o.engines, kEngines, "collectives to compare");
  table.Add("timeout", &o.timeout, {.min = milliseconds(1), .max = milliseconds(3'600'000)},
            "deadline");
  table.Add("pause", &o.pause, "time between calls");
  table.AddBytes("bytes", &o.bytes, {.min = 1}, "size of a message");
  table.Add("shuffle", &o.shuffle, "mix the rows");
  table.Add("dry-run", &o.dry_run, "print and stop").Scope(OptionScope::kLocal);
  table.Add("ranks", &o.ranks, {.min = 1}, "processes").Short("np").Scope(OptionScope::kLocal);
  table
      .Add("hosts", &o.hosts,
           {.what = "host:slots,...",
            .accept =
                [](std::string_view text) { return text.find(':') != std::string_view::npos; }},
           "where to run")
      .Short("H");
  table.AddPositional("files", &o.files, {.what = "files"}, "more rows");
  table.AddBuiltIns();
  table.SetSections("train", {"train", "score", "simulate.table"});
}

struct Filled {
  Sample sample;
  OptionTable table;
  Filled() { Fill(table, sample); }
};

/// "" or the error's line.
std::string Line(const Status& status) {
  if (status) return "";
  EXPECT_EQ(status.error().code(), Code::kInvalidInput);
  return status.error().what();
}

struct FlagCase {
  const char* args;      // with '|' between them; "" for none
  const char* expected;  // the error, or what ToArgs gives, joined with blanks
};

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> words;
  if (text.empty()) return words;
  for (std::size_t bar = 0; bar != std::string_view::npos; text.remove_prefix(bar + 1)) {
    bar = text.find('|');
    words.emplace_back(text.substr(0, bar));
    if (bar == std::string_view::npos) break;
  }
  return words;
}

class FlagTest : public testing::TestWithParam<FlagCase> {};

TEST_P(FlagTest, GivesValueOrExactError) {
  Filled filled;
  std::string got = Line(filled.table.ParseArgs(Split(GetParam().args)));
  if (got.empty()) {
    for (const std::string& arg : filled.table.ToArgs(OptionScope::kLocal)) {
      got += (got.empty() ? "" : " ") + arg;
    }
  }
  EXPECT_EQ(got, GetParam().expected);
}

constexpr FlagCase kFlagValues[] = {{"", ""},
                                    {"--epochs|3", "--epochs=3"},
                                    {"--epochs=3", "--epochs=3"},
                                    {"--epochs|+3", "--epochs=3"},
                                    {"--epochs|3|--epochs|4", "--epochs=4"},
                                    {"--epochs|50", "--epochs=50"},
                                    {"--seed|9223372036854775807", "--seed=9223372036854775807"},
                                    {"--learning-rate|1e-4", "--learning-rate=0.0001"},
                                    {"--false-alarm-rate|0", "--false-alarm-rate=0"},
                                    {"--keep|0.1", "--keep=0.1"},
                                    {"--data|a|b|--data|c", "--data=a --data=b --data=c"},
                                    {"--data|-|--epochs|3", "--data=- --epochs=3"},
                                    {"--data|a,b", "--data=a,b"},
                                    {"--data=-x", "--data=-x"},
                                    {"--data|-1|-.5", "--data=-1 --data=-.5"},
                                    {"--data|a|--|b", "--data=a -- b"},
                                    {"a|--epochs|3|b", "--epochs=3 -- a b"},
                                    {"--|--epochs", "-- --epochs"},
                                    {"--label|--=x", "--label needs a value: a column"},
                                    {"--label=", "--label="},
                                    {"--label=a=b", "--label=a=b"},
                                    {"--hidden|8,4,2", "--hidden=8 --hidden=4 --hidden=2"},
                                    {"--hidden|8|4", "--hidden=8 --hidden=4"},
                                    {"--hidden=", "--hidden="},
                                    {"--hidden=|--hidden|3", "--hidden=3"},
                                    {"--noise|-1,2.5", "--noise=-1 --noise=2.5"},
                                    {"--engine|mpi", "--engine=mpi"},
                                    {"--engines|mpi,gloo", "--engines=mpi --engines=gloo"},
                                    {"--timeout|1.5s", "--timeout=1500ms"},
                                    {"--pause|1ns", "--pause=1ns"},
                                    {"--bytes|64K", "--bytes=64KiB"},
                                    {"--no-shuffle", "--shuffle=false"},
                                    {"--shuffle=off", "--shuffle=false"},
                                    {"--dry-run", "--dry-run=true"},
                                    {"-np|4", "--ranks=4"},
                                    {"-np=4", "--ranks=4"},
                                    {"-H|a:1,b:2", "--hosts=a:1,b:2"}};
INSTANTIATE_TEST_SUITE_P(Values, FlagTest, testing::ValuesIn(kFlagValues));

constexpr FlagCase kFlagErrors[] = {
    {"--epochs|0", "--epochs: got '0', expected a whole number, 1 <= x <= 100000"},
    {"--epochs|x", "--epochs: got 'x', expected a whole number, 1 <= x <= 100000"},
    {"--epochs|1.5", "--epochs: got '1.5', expected a whole number, 1 <= x <= 100000"},
    {"--rows|-1", "--rows: got '-1', expected a whole number, x >= 0"},
    {"--rows|9223372036854775808",
     "--rows: got '9223372036854775808', expected a whole number, "
     "0 <= x <= 9223372036854775807"},
    {"--seed|18446744073709551615",
     "--seed: got '18446744073709551615', expected a whole number, "
     "0 <= x <= 9223372036854775807"},
    {"--learning-rate|0", "--learning-rate: got '0', expected a number, 0 < x <= 1"},
    {"--learning-rate=nan", "--learning-rate: got 'nan', expected a number, 0 < x <= 1"},
    {"--keep|1", "--keep: got '1', expected a number, 0 <= x < 1"},
    {"--keep|1e39", "--keep: got '1e39', expected a number, 0 <= x < 1"},
    {"--hidden|8,,4", "--hidden: got '', expected a whole number, x >= 1"},
    {"--hidden|8,0", "--hidden: got '0', expected a whole number, x >= 1"},
    {"--engine|mip", "--engine: got 'mip', expected one of auto, mpi, gloo (did you mean mpi?)"},
    {"--timeout|30",
     "--timeout: got '30', expected a duration such as 30s, 500ms or 2m, 1ms <= x <= 1h"},
    {"--timeout|1us",
     "--timeout: got '1us', expected a duration such as 30s, 500ms or 2m, 1ms <= x <= 1h"},
    {"--timeout|1500us",
     "--timeout: got '1500us', expected a duration such as 30s, 500ms or 2m, 1ms <= x "
     "<= 1h"},
    {"--bytes|8G",
     "--bytes: got '8G', expected a size in bytes such as 4096, 64K or 1.5MiB, x >= 1"},
    {"--shuffle=maybe", "--shuffle: got 'maybe', expected true or false"},
    {"--hosts|a", "--hosts: got 'a', expected host:slots,..."},
    {"--out|", "--out: got '', expected a folder"},
    {"--epochs", "--epochs needs a value: a whole number, 1 <= x <= 100000"},
    {"--data|--epochs|3", "--data needs a value: files or globs"},
    {"--learing-rate|1", "unknown option --learing-rate (did you mean --learning-rate?)"},
    {"--no-epochs", "unknown option --no-epochs (did you mean --epochs?)"},
    {"--files|x", "unknown option --files"},
    {"-n|4", "unknown option -n (did you mean -np?)"},
    {"-np4", "unknown option -np4 (did you mean -np?)"},
    {"--x\ny", "unknown option --x\\ny"}};
INSTANTIATE_TEST_SUITE_P(Errors, FlagTest, testing::ValuesIn(kFlagErrors));

struct FileCase {
  const char* text;
  const char* expected;  // the error, or the arguments that the file amounts to
};

class FileTest : public testing::TestWithParam<FileCase> {};

TEST_P(FileTest, GivesValueOrExactError) {
  Filled filled;
  std::string got = Line(filled.table.ApplyToml(GetParam().text, "job.toml"));
  if (got.empty()) {
    for (const std::string& arg : filled.table.ToArgs(OptionScope::kLocal)) {
      got += (got.empty() ? "" : " ") + arg;
    }
  }
  EXPECT_EQ(got, GetParam().expected);
}

constexpr FileCase kFileValues[] = {
    {"", ""},
    {"learning_rate = 0.5", "--learning-rate=0.5"},
    {"learning-rate = 1", "--learning-rate=1"},
    {"epochs = 3", "--epochs=3"},
    {"epochs = 3\n[train]\nepochs = 4", "--epochs=4"},
    {"[score]\nanything = 1\n[train]\nepochs = 4", "--epochs=4"},
    {"[simulate.table]\nrows = 9", ""},
    {"hidden = [8, 4]", "--hidden=8 --hidden=4"},
    {"hidden = []", "--hidden="},
    {"hidden = 8", "--hidden=8"},
    {"data = ['a,b', '']", "job.toml:1:16: data: got '', expected files or globs"},
    {"data = 'a.csv'", "--data=a.csv"},
    {"label = 5", "--label=5"},
    {"label = 1.0", "--label=1.0"},
    {"label = true", "--label=true"},
    {"timeout = '2m'", "--timeout=2m"},
    {"bytes = 4096", "--bytes=4KiB"},
    {"bytes = '64K'", "--bytes=64KiB"},
    {"shuffle = false", "--shuffle=false"},
    {"engine = 'gloo'", "--engine=gloo"},
    {"files = ['x']", "-- x"}};
INSTANTIATE_TEST_SUITE_P(Values, FileTest, testing::ValuesIn(kFileValues));

constexpr FileCase kFileErrors[] = {
    {"\nepochs = 0", "job.toml:2:10: epochs: got '0', expected a whole number, 1 <= x <= 100000"},
    {"epochs = 1.5", "job.toml:1:10: epochs: got '1.5', expected a whole number, 1 <= x <= 100000"},
    {"epochs = '3'",
     "job.toml:1:10: epochs: got the text '3', expected a whole number, 1 <= x <= 100000"},
    {"epochs = [3]",
     "job.toml:1:10: epochs: got a list, expected a whole number, 1 <= x <= 100000"},
    {"epochs = 1979-05-27",
     "job.toml:1:10: epochs: got a date or time, expected a whole number, 1 <= x <= 100000"},
    {"[train]\n  learning_rate = 7.5",
     "job.toml:2:19: learning_rate: got '7.5', expected a number, 0 < x <= 1"},
    {"learning_rate = nan",
     "job.toml:1:17: learning_rate: got 'nan', expected a number, 0 < x <= 1"},
    {"hidden = [8, 0]", "job.toml:1:14: hidden: got '0', expected a whole number, x >= 1"},
    {"hidden = [8, [4]]", "job.toml:1:14: hidden: got a list, expected a whole number, x >= 1"},
    {"hidden = '8,4'",
     "job.toml:1:10: hidden: got the text '8,4', expected a whole number, x >= 1"},
    {"shuffle = 1", "job.toml:1:11: shuffle: got '1', expected true or false"},
    {"timeout = 30",
     "job.toml:1:11: timeout: got '30', expected a duration such as 30s, 500ms or 2m, "
     "1ms <= x <= 1h"},
    {"ephocs = 3", "job.toml:1:1: unknown key ephocs (did you mean epochs?)"},
    {"config = 'x'", "job.toml:1:1: unknown key config"},
    {"[tarin]\nepochs = 3", "job.toml:1:2: unknown section tarin (did you mean train?)"},
    {"[epochs]\nx = 3", "job.toml:1:2: unknown section epochs"},
    {"[train.deep]\nx = 3", "job.toml:1:8: unknown section train.deep"},
    {"learning_rate = 0.5\nlearning-rate = 0.6",
     "job.toml:1:1: learning_rate is given twice, as learning-rate too"}};
INSTANTIATE_TEST_SUITE_P(Errors, FileTest, testing::ValuesIn(kFileErrors));

TEST(OptionFileTest, SyntaxErrorsNameTheLine) {
  for (const char* text :
       {"epochs = ", "a = 1\nb = 'x", "[train", "x", "\xff = 1", "epochs = 1\nepochs = 2"}) {
    Filled filled;
    const std::string line = Line(filled.table.ApplyToml(text, "job.toml"));
    EXPECT_TRUE(line.starts_with("job.toml:1:") || line.starts_with("job.toml:2:")) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

TEST(OptionFileTest, FlagsWinAndRequiredMayComeFromTheFile) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("ringward-options-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string path = folder / "job.toml";
  std::ofstream(path) << "epochs = 3\nhidden = [1, 2]\n";
  int epochs = 1;
  std::vector<int> hidden;
  OptionTable table;
  table.Add("epochs", &epochs, "e").Required();
  table.Add("hidden", &hidden, "h").Required();
  table.AddBuiltIns();
  const Status status =
      table.ParseArgs(std::vector<std::string>{"--hidden", "7", "--config", path});
  std::filesystem::remove_all(folder);
  EXPECT_EQ(Line(status), "");
  EXPECT_EQ(epochs, 3);
  EXPECT_EQ(hidden, std::vector<int>{7});
}

TEST(OptionFileTest, UnreadableFilesAreOneLine) {
  OptionTable table;
  EXPECT_EQ(Line(table.ApplyTomlFile("/no/such/file.toml")),
            "/no/such/file.toml: No such file or directory");
  EXPECT_EQ(Line(table.ApplyTomlFile("/")), "/: Is a directory");
  EXPECT_EQ(Line(table.ApplyTomlFile("/dev/zero")),
            "/dev/zero: larger than 1 MiB, which is no option file");
}

TEST(OptionTableTest, AsksForWhatIsRequired) {
  std::string shell;
  std::vector<std::string> data;
  OptionTable table;
  table.Add("data", &data, {.what = "files"}, "d").Required();
  table.AddPositional("shell", &shell, {.what = "a shell"}, "s").Required();
  table.AddBuiltIns();
  EXPECT_EQ(Line(table.ParseArgs({})), "missing --data: files");
  EXPECT_EQ(Line(table.ParseArgs(std::vector<std::string>{"--data", "x"})),
            "missing SHELL: a shell");
  EXPECT_EQ(Line(table.ParseArgs(std::vector<std::string>{"bash", "zsh", "--data", "x"})),
            "unexpected argument 'zsh'");
  EXPECT_EQ(Line(table.ParseArgs(std::vector<std::string>{"--bogus", "--help"})), "");
  EXPECT_TRUE(table.help_requested());
  EXPECT_EQ(table.Usage(), "--data TEXT... [options] SHELL");
}

TEST(OptionTableTest, StoresOnlyWhatItsScopeAllows) {
  Filled filled;
  ASSERT_EQ(Line(filled.table.ParseArgs(
                std::vector<std::string>{"-np", "4", "--dry-run", "--epochs", "3"})),
            "");
  EXPECT_EQ(filled.table.ToArgs(), std::vector<std::string>{"--epochs=3"});
  const std::string toml = filled.table.ToToml();
  EXPECT_NE(toml.find("epochs = 3\n"), std::string::npos);
  for (const char* local : {"ranks", "dry_run", "config", "help", "\nout ="}) {
    EXPECT_EQ(toml.find(local), std::string::npos) << local << "\n" << toml;
  }
  EXPECT_TRUE(filled.table.WasSet("epochs"));
  EXPECT_FALSE(filled.table.WasSet("seed"));
}

TEST(OptionTableTest, QuotesTextForToml) {
  std::string text = "a\"b\\c\n\x01ä\xff";
  OptionTable table;
  table.Add("text", &text, "t");
  EXPECT_EQ(table.ToToml(), "text = \"a\\\"b\\\\c\\u000A\\u0001ä�\"\n");
}

TEST(OptionTableTest, HelpNamesDefaultAndRange) {
  Filled filled;
  const std::string expected =
      "Data:\n"
      "  --data FILE...              rows to read [files or globs]\n"
      "  --label TEXT                the label [a column]\n"
      "  --out DIR                   where to write [a folder]\n"
      "\n"
      "Training:\n"
      "  --epochs N                  passes over the data [default: 50; 1 <= x <= 100000]\n"
      "  --rows N                    rows [default: 0; x >= 0]\n"
      "  --seed N                    seed of all random numbers [default: 0; a whole number]\n";
  EXPECT_EQ(filled.table.Help(100).substr(0, expected.size()), expected);
  for (std::size_t width : {std::size_t{50}, std::size_t{80}}) {
    std::string help = filled.table.Help(width);
    for (std::size_t at = 0; at < help.size(); at = help.find('\n', at) + 1) {
      EXPECT_LE(help.find('\n', at) - at, width) << help.substr(at, help.find('\n', at) - at);
    }
  }
}

}  // namespace
}  // namespace ringward
