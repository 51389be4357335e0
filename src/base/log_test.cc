#include "base/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <thread>

#include "base/table_printer.h"

namespace ringward {
namespace {

/// Restores the default configuration, and removes its folder.
class LogTest : public testing::Test {
 protected:
  LogTest() { std::filesystem::create_directories(folder_); }
  ~LogTest() override {
    EXPECT_TRUE(ConfigureLog({}));
    std::filesystem::remove_all(folder_);
  }
  std::string FileText() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("ringward-log-" + std::to_string(::getpid()) + "-" +
       testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::string path_ = folder_ / "rank.log";
};

TEST_F(LogTest, WritesLevelRankAndFields) {
  ASSERT_TRUE(ConfigureLog({.level = LogLevel::kInfo, .rank = 3, .file = path_}));
  testing::internal::CaptureStderr();
  LogDebug("dropped");
  LogInfo("ranks started", {{"ranks", 4}, {"engine", "mpi"}, {"rate", 0.5}});
  LogWarning("odd\nmessage", {{"text", "two \"words\"\n"}, {"empty", ""}});
  const std::string shown = testing::internal::GetCapturedStderr();
  const std::regex expected(
      R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info rank=3 ranks started ranks=4 engine=mpi rate=0\.5\n)"
      R"(\S+Z warning rank=3 odd\\nmessage text="two \\"words\\"\\n" empty=""\n)");
  EXPECT_TRUE(std::regex_match(shown, expected)) << shown;
  EXPECT_EQ(FileText(), shown);
}

TEST_F(LogTest, LevelsAreThresholds) {
  ASSERT_TRUE(ConfigureLog({.level = LogLevel::kError}));
  EXPECT_FALSE(LogsAt(LogLevel::kWarning));
  EXPECT_TRUE(LogsAt(LogLevel::kError));
  ASSERT_TRUE(ConfigureLog({.level = LogLevel::kOff}));
  EXPECT_FALSE(LogsAt(LogLevel::kError));
  testing::internal::CaptureStderr();
  LogError("nobody hears it");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(LogTest, AFileThatCannotBeOpenedIsAnError) {
  const Status status = ConfigureLog({.file = folder_ / "x" / ".." / ""});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), Code::kResource);
  EXPECT_NE(status.error().what().find("opening the log file"), std::string::npos);
}

TEST_F(LogTest, LinesOfManyThreadsStayWhole) {
  ASSERT_TRUE(ConfigureLog({.file = path_}));
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  testing::internal::CaptureStderr();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < kLines; ++i) LogInfo("line", {{"thread", t}, {"i", i}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string shown = testing::internal::GetCapturedStderr();
  const std::regex line(R"(\S+Z info line thread=\d i=\d+\n)");
  for (const std::string& text : {shown, FileText()}) {
    const auto begin = std::sregex_iterator(text.begin(), text.end(), line);
    std::size_t bytes = 0;
    for (auto it = begin; it != std::sregex_iterator(); ++it)
      bytes += static_cast<std::size_t>(it->length());
    EXPECT_EQ(bytes, text.size());
    EXPECT_EQ(std::distance(begin, std::sregex_iterator()), kThreads * kLines);
  }
}

TEST(TablePrinterTest, AlignsColumns) {
  TablePrinter table({{"set"}, {"AUROC", Align::kRight}, {"note"}});
  table.AddRow({"cardio", "0.951", "größer"});
  table.AddRow({"x", "1", ""});
  table.AddRow({"a\nb", "-", "y"});
  EXPECT_EQ(table.ToString(2),
            "  set     AUROC  note\n"
            "  cardio  0.951  größer\n"
            "  x           1\n"
            "  a\\nb        -  y\n");
  EXPECT_EQ(TablePrinter({{"only"}}).ToString(), "only\n");
}

TEST(TablePrinterDeathTest, EveryColumnNeedsACell) {
  TablePrinter table({{"a"}, {"b"}});
  EXPECT_DEATH(table.AddRow({"1"}), "check failed");
}

}  // namespace
}  // namespace ringward
