#include "ingest/horovod_timeline/horovod_timeline.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringward::ingest {
namespace {

using Place = HorovodTimeline::Place;

const std::string kHead =
    "[\n"
    R"({"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros":1700000000000000}},)"
    "\n"
    R"({"name": "process_sort_index", "ph": "M", "pid": 0, "args": {"sort_index": 0}},)"
    "\n";

std::string Name(int pid, const std::string& name) {
  return R"({"name": "process_name", "ph": "M", "pid": )" + std::to_string(pid) +
         R"(, "args": {"name": ")" + name + "\"}},\n";
}
std::string Begin(int pid, const std::string& name, int ts) {
  return R"({"ph": "B", "name": ")" + name + R"(", "ts": )" + std::to_string(ts) + R"(, "pid": )" +
         std::to_string(pid) + "},";
}
std::string End(int pid, int ts) {
  return R"({"ph": "E", "ts": )" + std::to_string(ts) + R"(, "pid": )" + std::to_string(pid) + "},";
}
std::string Tick(int pid, int rank, int ts) {
  return R"({"ph": "X", "name": ")" + std::to_string(rank) + R"(", "ts": )" + std::to_string(ts) +
         R"(, "pid": )" + std::to_string(pid) + R"(, "dur": 0},)";
}
/// One allreduce: rank r comes at came[r], and it ends at `end`.
std::string Allreduce(int pid, std::vector<int> came, int end) {
  std::string text = Begin(pid, "NEGOTIATE_ALLREDUCE", came[0]);
  int all = 0;
  for (std::size_t rank = 0; rank < came.size(); ++rank) {
    text += Tick(pid, static_cast<int>(rank), came[rank]);
    all = std::max(all, came[rank]);
  }
  return text + End(pid, all) + Begin(pid, "ALLREDUCE", all + 1) +
         Begin(pid, "MPI_ALLREDUCE", all + 2) + End(pid, end - 1) + End(pid, end);
}
/// One that the response cache answers: nobody is seen to come.
std::string Cached(int pid, int begin, int all, int end) {
  return Begin(pid, "NEGOTIATE_ALLREDUCE", begin) + End(pid, all) + Begin(pid, "ALLREDUCE", all) +
         End(pid, end);
}

/// "0: 0-20 late 0 5 transfer 5" for each round.
std::string TextOf(const std::vector<TimelineRound>& rounds) {
  std::string text;
  for (const TimelineRound& round : rounds) {
    text += std::to_string(round.number) + ": " + std::to_string(round.begin.count()) + "-" +
            std::to_string(round.end.count());
    for (const TimelineTime late : round.late) text += " " + std::to_string(late.count());
    text += " transfer " + std::to_string(round.transfer.count()) + "\n";
  }
  return text;
}

struct Case {
  const char* name;
  std::string text;
  std::string rounds;
  std::size_t world;
  std::uint64_t malformed = 0;
  std::string first_malformed = {};
};

/// Whole, torn and damaged files.
std::vector<Case> FileCases() {
  const std::string two = Allreduce(1, {10, 14}, 20) + Allreduce(1, {30, 38}, 45);
  const std::string last = Begin(1, "NEGOTIATE_ALLREDUCE", 50);  // ends the round before
  const std::string rounds = "0: 0-20 0 4 transfer 6\n1: 20-45 0 8 transfer 7\n";
  const std::string name = Name(1, "a");
  return {
      {"nothing", "", "", 0},
      {"an opening bracket only", "[", "", 0},
      {"two rounds and a begun one", kHead + name + two + last, rounds, 2},
      {"closed", kHead + name + two + last.substr(0, last.size() - 1) + "]", rounds, 2},
      {"the old form, a record a line",
       "[\n" + name + Allreduce(1, {10, 14}, 20) + "\n" + Allreduce(1, {30, 38}, 45) + ",\n" + last,
       rounds, 2},
      {"half an object at the end", kHead + name + two + last + R"({"ph": "B", "na)", rounds, 2},
      {"without names", two + last, rounds, 2},
      {"garbage between objects", kHead + "oops" + two + "{\"ph\": 1 2}" + last, rounds, 2, 2,
       "4: no JSON object"},
      {"a name that was not escaped", kHead + Name(1, "a\"b") + two + last, rounds, 2, 1,
       "4: no JSON object"},
      {"a record without a time", R"({"ph": "B", "name": "x", "pid": 1})" + two + last, rounds, 2,
       1, "1: a record without a time in \"ts\""},
      {"a tick of no rank", two + R"({"ph": "X", "name": "-1", "ts": 46, "pid": 1})" + last, rounds,
       2, 1, "1: a tick of no rank"},
  };
}

/// Which rounds records come to.
std::vector<Case> RoundCases() {
  const std::string two = Allreduce(1, {10, 14}, 20) + Allreduce(1, {30, 38}, 45);
  const std::string last = Begin(1, "NEGOTIATE_ALLREDUCE", 50);
  const std::string rounds = "0: 0-20 0 4 transfer 6\n1: 20-45 0 8 transfer 7\n";
  return {
      {"cycle marks are passed over",
       R"({"ph": "i", "name": "CYCLE_START", "ts": 1, "s": "g"},)" + two + last, rounds, 2},
      {"an end without a begin", End(1, 3) + End(9, 4) + two + last, rounds, 2},
      {"cached: nobody is seen to come", Cached(1, 10, 14, 20) + Cached(1, 30, 38, 45) + last,
       "0: 0-20 transfer 6\n1: 20-45 transfer 7\n", 0},
      {"two tensors at a time",
       Begin(1, "NEGOTIATE_ALLREDUCE", 10) + Tick(1, 0, 10) + Begin(2, "NEGOTIATE_ALLREDUCE", 12) +
           Tick(2, 0, 12) + Tick(1, 1, 13) + Tick(2, 1, 19) + End(1, 19) + End(2, 19) +
           Begin(1, "ALLREDUCE", 20) + Begin(2, "ALLREDUCE", 20) + End(1, 24) + End(2, 25) + last,
       "0: 0-25 0 7 transfer 6\n", 2},
      // A mean of the loss after the step: by then all are together again, and rank 1 was late.
      {"late in the first of two parts",
       Allreduce(1, {10, 30}, 34) + Allreduce(2, {40, 40}, 44) + last, "0: 0-44 0 20 transfer 8\n",
       2},
      {"each late in one of two parts",
       Allreduce(1, {10, 30}, 34) + Allreduce(2, {49, 40}, 54) +
           Begin(1, "NEGOTIATE_ALLREDUCE", 60),
       "0: 0-54 9 20 transfer 9\n", 2},
      {"some of the ranks only", Allreduce(1, {10, 30, 11}, 34) + Allreduce(2, {40, 41}, 44) + last,
       "0: 0-44 0 20 1 transfer 7\n", 3},
      {"tensors without names end rounds alone",
       Name(1, "allreduce.noname.1") + Allreduce(1, {10, 14}, 20) + Name(2, "allreduce.noname.2") +
           Allreduce(2, {30, 38}, 45) + Name(3, "allreduce.noname.3") +
           Begin(3, "NEGOTIATE_ALLREDUCE", 50),
       rounds, 2},
      {"and not beside others",
       two + Name(2, "allreduce.noname.1") + Allreduce(2, {46, 46}, 47) +
           Name(3, "allreduce.noname.2") + Allreduce(3, {48, 48}, 49) + last,
       "0: 0-20 0 4 transfer 6\n1: 20-49 0 8 transfer 9\n", 2},
      {"a barrier has no operation",
       Begin(1, "NEGOTIATE_BARRIER", 10) + Tick(1, 0, 10) + Tick(1, 1, 15) + End(1, 15) +
           Begin(1, "NEGOTIATE_BARRIER", 30),
       "0: 0-15 0 5 transfer 0\n", 2},
      {"a clock that is set anew", Allreduce(1, {2000010, 2000014}, 2000020) + two + last,
       "0: 10-20 0 4 transfer 6\n1: 20-45 0 8 transfer 7\n", 2},
      {"a time that is none", R"({"ph": "E", "ts": 1e300, "pid": 1},)" + two + last, rounds, 2, 1,
       "1: a record without a time in \"ts\""},
      {"an object too deep", std::string(20, '{') + "\n" + two + last, rounds, 2, 20,
       "1: no JSON object"},
  };
}

std::vector<Case> Cases() {
  std::vector<Case> cases = FileCases();
  for (Case& each : RoundCases()) cases.push_back(std::move(each));
  return cases;
}

/// The rounds of `text`, fed in pieces of `piece` bytes.
std::string Read(HorovodTimeline& timeline, const std::string& text, std::size_t piece) {
  std::string rounds;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    timeline.Feed(std::string_view(text).substr(at, piece));
    rounds += TextOf(timeline.Take());
  }
  return rounds;
}

TEST(HorovodTimelineTest, ReadsWholeTornAndDamagedFiles) {
  for (const Case& each : Cases()) {
    HorovodTimeline timeline;
    EXPECT_EQ(Read(timeline, each.text, each.text.size() + 1), each.rounds) << each.name;
    EXPECT_EQ(timeline.world(), each.world) << each.name;
    EXPECT_EQ(timeline.counts().malformed, each.malformed) << each.name;
    EXPECT_EQ(timeline.counts().first_malformed, each.first_malformed) << each.name;
  }
}

TEST(HorovodTimelineTest, PiecesCutAnywhereGiveTheSame) {
  for (const Case& each : Cases()) {
    for (std::size_t cut = 0; cut <= each.text.size(); ++cut) {
      HorovodTimeline timeline;
      timeline.Feed(std::string_view(each.text).substr(0, cut));
      timeline.Feed(std::string_view(each.text).substr(cut));
      ASSERT_EQ(TextOf(timeline.Take()), each.rounds) << each.name << " cut at " << cut;
      ASSERT_EQ(timeline.counts().malformed, each.malformed) << each.name << " cut at " << cut;
    }
    HorovodTimeline timeline;
    EXPECT_EQ(Read(timeline, each.text, 1), each.rounds) << each.name << " byte by byte";
  }
}

TEST(HorovodTimelineTest, AFileBegunAnewIsReadAsOne) {
  HorovodTimeline timeline;
  timeline.Feed(kHead + Allreduce(1, {10, 30, 11}, 34) + R"({"ph": "B", "na)");
  timeline.Restart();
  EXPECT_EQ(timeline.world(), 0U);
  EXPECT_FALSE(timeline.began());
  timeline.Feed(kHead + Allreduce(1, {10, 14}, 20) + Begin(1, "NEGOTIATE_ALLREDUCE", 30));
  EXPECT_EQ(TextOf(timeline.Take()), "0: 0-20 0 4 transfer 6\n");
  EXPECT_EQ(timeline.world(), 2U);
  EXPECT_EQ(timeline.began()->count(), 1700000000000000);
}

TEST(HorovodTimelineTest, SaysWhoStandsWhere) {
  HorovodTimeline timeline;
  timeline.Feed(Allreduce(1, {10, 14, 11}, 20));
  const std::vector<Place> nobody(3, Place::kUnknown);
  EXPECT_EQ(timeline.Standing(), nobody);  // between collectives
  timeline.Feed(Begin(1, "NEGOTIATE_ALLREDUCE", 30));
  EXPECT_EQ(timeline.Standing(), nobody);  // as the cache has it
  timeline.Feed(Tick(1, 0, 30) + Tick(1, 2, 31));
  EXPECT_EQ(timeline.Standing(), (std::vector{Place::kInside, Place::kOutside, Place::kInside}));
  timeline.Feed(Begin(2, "NEGOTIATE_ALLREDUCE", 32) + Tick(2, 0, 32));
  EXPECT_EQ(timeline.Standing(), (std::vector{Place::kInside, Place::kOutside, Place::kOutside}));
  timeline.Feed(Tick(2, 1, 33) + Tick(2, 2, 33) + End(2, 33) + Tick(1, 1, 34) + End(1, 34));
  EXPECT_EQ(timeline.Standing(), std::vector(3, Place::kInside));  // the operation runs
}

TEST(HorovodTimelineTest, WhatOnlySomeRanksDoTellsNothingOfTheOthers) {
  HorovodTimeline timeline;
  timeline.Feed(Allreduce(1, {10, 14, 11}, 20) + Allreduce(2, {30, 31}, 35));
  timeline.Feed(Begin(2, "NEGOTIATE_ALLREDUCE", 40) + Tick(2, 0, 40));
  EXPECT_EQ(timeline.Standing(), std::vector(3, Place::kUnknown));
}

TEST(HorovodTimelineTest, SaysWhenNobodyIsSeenToCome) {
  HorovodTimeline timeline;
  timeline.Feed(Allreduce(1, {10, 14}, 20));
  for (int round = 0; round < 25; ++round) {
    EXPECT_EQ(timeline.lacks_ticks(), round > HorovodTimeline::kBlindRounds) << round;
    timeline.Feed(Cached(1, 30 + 10 * round, 34 + 10 * round, 38 + 10 * round));
  }
  EXPECT_EQ(timeline.world(), 2U);
}

TEST(HorovodTimelineTest, MemoryIsBounded) {
  HorovodTimeline timeline;
  for (std::size_t pid = 1; pid <= HorovodTimeline::kTensorsMost + 10; ++pid)
    timeline.Feed(Begin(static_cast<int>(pid), "NEGOTIATE_ALLREDUCE", 1));
  EXPECT_EQ(timeline.counts().tensors_lost, 10U);
  std::string endless = "{\"ph\": \"";
  endless.resize(3 * ObjectCutter::kObjectMost, 'x');
  timeline.Feed(endless);
  EXPECT_GE(timeline.counts().malformed, 1U);
}

TEST(TimelineRoundTest, WaitsOfRanks) {
  using std::chrono::microseconds;
  const auto us = [](std::vector<int> values) {
    std::vector<TimelineTime> times;
    for (const int value : values) times.emplace_back(value);
    return times;
  };
  const struct {
    std::vector<int> late;
    std::vector<int> waits;
  } kCases[] = {
      {{}, {5, 5, 5}},             // not known of any
      {{0, 30, 10}, {35, 5, 25}},  // the last to come waits for the transfer only
      {{0, 30, -1}, {35, 5, 5}},   // not known of one: as the others' median
      {{0, 90, 0}, {95, 5, 95}},
      {{0, 200, 0}, {100, 5, 100}},  // never longer than the round
  };
  for (const auto& each : kCases) {
    const TimelineRound round{
        .end = microseconds(100), .transfer = microseconds(5), .late = us(each.late)};
    EXPECT_EQ(round.Waits(3), us(each.waits));
  }
}

}  // namespace
}  // namespace ringward::ingest
