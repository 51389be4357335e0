#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "detect/detector_set.h"

namespace ringward::detect {
namespace {

using signal::LogLine;

signal::Time At(int second) { return std::chrono::seconds(1'000'000 + second); }

LogLine Line(LogLine::Kind kind, std::vector<std::int32_t> ranks, std::string text) {
  return {.kind = kind,
          .category = signal::Category::kMemory,
          .ranks = std::move(ranks),
          .seconds = 60.0,
          .where = {.file = "job.log", .line = 7, .text = std::move(text)}};
}

/// "5 rank-stalled 1: evidence" for each finding, with the second in which it was made.
std::string TextOf(const std::vector<signal::Finding>& findings) {
  std::string text;
  for (const signal::Finding& finding : findings) {
    text +=
        std::to_string((finding.at - At(0)) / std::chrono::seconds(1)) + " " + NameOf(finding.kind);
    for (const std::int32_t rank : finding.ranks) text += " " + std::to_string(rank);
    text += (finding.over ? " over: " : ": ") + finding.evidence + "\n";
  }
  return text;
}

struct Said {
  int second;
  decltype(signal::Event::what) what;
};

signal::Frame Frame(std::int64_t step, int second) {
  return {.step = step, .received = At(second), .columns = {{0, {1.0F, 1.0F, 1.0F, 1.0F}}}};
}

TEST(LogLinesTest, PassesOnWhatLogsSay) {
  using enum LogLine::Kind;
  const std::string stall =
      "rank 1 has stayed out of collectives for more than 60 s, the others wait; job.log:7: 1: "
      "[a]\n";
  const struct {
    const char* name;
    std::vector<Said> said;
    std::string findings;
  } kCases[] = {
      {"a stall, said again, until a step ends",
       {{1, Frame(1, 1)},
        {2, Line(kStalled, {1}, "1: [a]")},
        {3, Line(kStalled, {1}, "1: [a]")},
        {9, Frame(2, 9)}},
       "2 rank-stalled 1: " + stall + "9 rank-stalled 1 over: " + stall},
      {"a frame of the same look is of before",
       {{2, Line(kStalled, {1}, "1: [a]")}, {2, Frame(2, 2)}},
       "2 rank-stalled 1: " + stall + "20 rank-stalled 1 over: " + stall},
      {"in different collectives",
       {{2, Line(kDiffers, {1}, "1: [a]")}, {9, Frame(2, 9)}},
       "2 rank-stalled 1: rank 1 is in another collective than the others; job.log:7: 1: [a]\n"
       "9 rank-stalled 1 over: rank 1 is in another collective than the others; job.log:7: 1: "
       "[a]\n"},
      {"an error", {{2, Line(kFailed, {3}, "Killed")}}, "2 rank-error 3 over: job.log:7: Killed\n"},
      {"ranks that the job does not have",
       {{2, Line(kFailed, {9, 3, -1}, "Killed")}},
       "2 rank-error 3 over: job.log:7: Killed\n"},
  };
  for (const auto& each : kCases) {
    DetectorSet detectors({});
    detectors.OnEvent({0, At(0), signal::JobOpened{"job", signal::Topology(4)}});
    std::uint64_t number = 0;
    for (const Said& said : each.said) detectors.OnEvent({++number, At(said.second), said.what});
    detectors.Finish(At(20));
    EXPECT_EQ(TextOf(detectors.Take()), each.findings) << each.name;
  }
}

}  // namespace
}  // namespace ringward::detect
