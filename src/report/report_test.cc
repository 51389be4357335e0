#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "report/evaluate_report.h"
#include "report/text.h"
#include "report/train_report.h"

namespace ringward::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(TextTest, EscapesWhatHtmlWouldRead) {
  const std::pair<std::string, std::string> cases[] = {
      {"plain", "plain"},
      {"<b a=\"1\">&'", "&lt;b a=&quot;1&quot;&gt;&amp;&#39;"},
      {"µ € 𝄞", "µ € 𝄞"},
      {"a\tb\nc", "a\tb\nc"},
      {std::string("a\0b\x1b", 4), "a\uFFFDb\uFFFD"},
      {"\xff", "\uFFFD"},                                 // no lead byte
      {"\xc0\xbc", "\uFFFD\uFFFD"},                       // '<' in too many bytes
      {"\xe2\x82", "\uFFFD\uFFFD"},                       // cut short
      {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},             // a surrogate
      {"\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"}};  // above U+10FFFF
  for (const auto& [text, escaped] : cases) EXPECT_EQ(EscapeHtml(text), escaped) << text;
}

TEST(TextTest, JsonCannotLeaveItsScript) {
  EXPECT_EQ(EscapeJsonForScript(R"({"a":"</script><!--&"})"),
            R"({"a":"\u003c/script\u003e\u003c!--\u0026"})");
  EXPECT_EQ(EscapeJsonForScript("\"\u2028\u2029\u2030\""), "\"\\u2028\\u2029\u2030\"");
}

TEST(TextTest, FormatsNumbersForPeople) {
  const std::pair<double, std::string> cases[] = {{0.0, "0"},
                                                  {0.5, "0.5"},
                                                  {0.931249, "0.9312"},
                                                  {12.0, "12"},
                                                  {-3.25, "−3.25"},
                                                  {12345.678, "12,346"},
                                                  {1234567.0, "1,234,567"},
                                                  {3.14e-7, "3.14e-7"},
                                                  {2.5e12, "2.5e12"},
                                                  {kNan, "–"},
                                                  {kInf, "∞"},
                                                  {-kInf, "−∞"},
                                                  {999.96, "1,000"},
                                                  {100.0, "100"},
                                                  {0.0001, "0.0001"}};
  for (const auto& [value, text] : cases) EXPECT_EQ(FormatNumber(value), text) << value;
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatPercent(0.0123), "1.23 %");
}

TEST(TextTest, FormatsDurations) {
  const std::pair<double, std::string> cases[] = {{2e-5, "20 µs"},        {0.84, "840 ms"},
                                                  {12.34, "12.3 s"},      {245.0, "4 min 05 s"},
                                                  {7380.0, "2 h 03 min"}, {kNan, "–"}};
  for (const auto& [seconds, text] : cases) EXPECT_EQ(FormatSeconds(seconds), text) << seconds;
}

std::vector<std::string> LabelsOf(const Axis& axis) {
  std::vector<std::string> labels;
  for (const Tick& tick : axis.Ticks()) labels.push_back(tick.label);
  return labels;
}

TEST(AxisTest, ChoosesRoundTicks) {
  using Labels = std::vector<std::string>;
  EXPECT_EQ(LabelsOf(Axis({}, {0.03, 0.97}, 0, 1)), (Labels{"0", "0.2", "0.4", "0.6", "0.8", "1"}));
  EXPECT_EQ(LabelsOf(Axis({}, {-13, 41}, 0, 1)),
            (Labels{"−20", "−10", "0", "10", "20", "30", "40", "50"}));
  EXPECT_EQ(LabelsOf(Axis({}, {0, 52'000}, 0, 1)),
            (Labels{"0", "10k", "20k", "30k", "40k", "50k", "60k"}));
  EXPECT_EQ(LabelsOf(Axis({.log = true}, {0.03, 0.9}, 0, 1)),
            (Labels{"0.02", "0.05", "0.1", "0.2", "0.5", "1"}));
  EXPECT_EQ(LabelsOf(Axis({.log = true}, {1, 1e5}, 0, 1)),
            (Labels{"1", "10", "100", "1,000", "10k", "100k"}));
}

TEST(AxisTest, IsNeverEmpty) {
  const std::vector<double> samples[] = {{},     {kNan},   {0},     {5, 5},      {-2},
                                         {kInf}, {1e-300}, {1e300}, {-1e9, 1e-9}};
  for (const auto& values : samples) {
    for (const bool log : {false, true}) {
      const Axis axis({.log = log}, values, 10, 20);
      EXPECT_LT(axis.low(), axis.high());
      EXPECT_GE(axis.Ticks().size(), 2U);
      EXPECT_LE(axis.Ticks().size(), 12U);
      EXPECT_GE(axis.Pixel(axis.high() * 2), 10.0);
      EXPECT_LE(axis.Pixel(axis.high() * 2), 20.0);
    }
  }
}

TEST(LineChartTest, LeavesGapsWhereThereIsNoValue) {
  LineChart chart{.title = "loss"};
  chart.lines = {{.name = "train", .points = {{1, 1}, {2, kNan}, {3, 3}, {4, kInf}, {5, 4}}}};
  const std::string html = Draw(chart);
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, Not(HasSubstr("inf")));
  const std::string path = html.substr(html.rfind("class=\"line s1\" d="));
  EXPECT_EQ(
      std::count(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(path.find("/>")), 'M'),
      3);
}

TEST(LineChartTest, LogAxisLeavesOutZero) {
  LineChart chart{.title = "loss"};
  chart.y.log = true;
  chart.lines = {{.name = "train", .points = {{1, 1}, {2, 0}, {3, 0.1}}}};
  const std::string html = Draw(chart);
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, Not(HasSubstr("inf")));
}

TEST(LineChartTest, TellsWhatItShows) {
  LineChart chart{.title = "a <title>", .description = "a & b"};
  chart.lines = {{.name = "x", .points = {{0, 0}, {1, 1}}}};
  const std::string html = Draw(chart);
  EXPECT_THAT(html, HasSubstr("role=\"img\"><title>a &lt;title&gt;</title><desc>a &amp; b</desc>"));
}

TEST(HistogramTest, CountsReadBackFromTheTips) {
  Histogram histogram{.title = "scores"};
  histogram.x.label = "score";
  histogram.edges = {0, 1, 2};
  histogram.groups = {{"normal", {1500, 0}}, {"anomalies", {0, 7}}};
  histogram.log_count = true;
  histogram.threshold = 3.0;  // above every bin, yet on the chart
  const std::string html = Draw(histogram);
  EXPECT_THAT(html, HasSubstr("score 0 – 1\nnormal: 1,500\nanomalies: 0"));
  EXPECT_THAT(html, HasSubstr("score 1 – 2\nnormal: 0\nanomalies: 7"));
  EXPECT_THAT(html, HasSubstr(">threshold 3<"));
}

TEST(BarChartTest, WidthsAreSharesOfTheLargestOrOfFull) {
  BarChart chart{.title = "t", .bars = {{"a", 4, "4"}, {"b", 1, "1"}}};
  EXPECT_THAT(Draw(chart), HasSubstr("width:100.0%"));
  EXPECT_THAT(Draw(chart), HasSubstr("width:25.0%"));
  chart.full = 8;
  EXPECT_THAT(Draw(chart), HasSubstr("--w:50.0%"));
  chart = {.title = "t", .bars = {{"a", 0, "0"}}};
  EXPECT_THAT(Draw(chart), HasSubstr("width:0.0%"));
}

TEST(PageTest, LoadsNothingFromAnywhere) {
  const std::string html = Render(TrainReport{});
  for (const char* const word : {"http:", "https:", "src=", "@import", "url("}) {
    EXPECT_THAT(html, Not(HasSubstr(word)));
  }
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
}

TEST(TrainReportTest, ShowsWhatItWasGiven) {
  TrainReport report;
  report.rows = 18'000;
  report.ranks = 2;
  report.epochs = {{1, 2.0, 2.5}, {2, 0.5, 0.75}, {4, 0.25, 0.875}};
  report.best_epoch = 2;
  report.calibration = {{2000, 3.5, 0.01}};
  report.notes = {{Severity::kInfo, "an aside"}, {Severity::kWarning, "a danger"}};
  const std::string html = Render(report);
  EXPECT_THAT(html, HasSubstr("18,000"));
  EXPECT_THAT(html, HasSubstr("epoch 2 of 4"));
  EXPECT_THAT(html, HasSubstr("kept: epoch 2"));
  EXPECT_THAT(html, HasSubstr("for 1 % false alarms, from 2,000 calibration rows"));
  EXPECT_THAT(html, HasSubstr("epoch 2\nrows learned from: 0.5\nvalidation rows: 0.75"));
  EXPECT_LT(html.find("a danger"), html.find("an aside"));
}

TEST(TrainReportTest, StandsBestEpochsThatAreNotShown) {
  for (const int best : {-1, 0, 3, 5}) {
    TrainReport report;
    report.epochs = {{1, 1.0, std::nullopt}, {4, kNan, std::nullopt}};
    report.best_epoch = best;
    EXPECT_THAT(Render(report), AllOf(HasSubstr("<svg"), HasSubstr("epoch 4 of 4")));
  }
}

TEST(EvaluateReportTest, ShowsEveryFigureWithIntervalAndChance) {
  EvaluateReport report;
  report.rows = 1000;
  report.anomalies = 50;
  report.resamples = 200;
  report.figures = {{"AUROC", "meaning", 0.9123, 0.88, 0.94, 0.5, false},
                    {"precision", "meaning", std::nullopt, 0, 0, 0.05, true}};
  report.curve = {{kInf, 0, 0, 1}, {2, 0.25, 0.5, 0.1}, {1, 1, 1, 0.05}};
  report.operating = {{2, 0.25, 0.5, 0.1}};
  const std::string html = Render(report);
  EXPECT_THAT(html, HasSubstr("0.912"));
  EXPECT_THAT(html, HasSubstr("0.880 – 0.940"));
  EXPECT_THAT(html, HasSubstr("random scores: 5.00 %"));
  EXPECT_THAT(html, HasSubstr("95 % by a bootstrap of 200 resamples"));
  EXPECT_THAT(html, HasSubstr("threshold 2\nfalse-alarm rate 25 %\nrecall 50 %\nprecision 10 %"));
}

TEST(EvaluateReportTest, LeavesOutWhatThereIsNot) {
  const std::string html = Render(EvaluateReport{});
  EXPECT_THAT(html, Not(HasSubstr("<svg")));
  EXPECT_THAT(html, Not(HasSubstr("<h2>")));
}

}  // namespace
}  // namespace ringward::report
