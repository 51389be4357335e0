#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "io/test_folder.h"
#include "watch/fake_source.h"
#include "watch/tails/file_events.h"
#include "watch/tails/file_tail.h"
#include "watch/tails/tail_source.h"
#include "watch/watcher.h"

namespace ringward::watch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void Append(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::app) << text;
}
void Rewrite(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

/// What a tail gives until nothing is new; '|' before the beginning of a file anew.
std::string ReadAll(FileTail& tail) {
  std::array<char, 5> buffer{};
  std::string all;
  while (true) {
    const FileTail::Piece piece = tail.Read(buffer);
    if (piece.bytes.empty()) return all;
    all += (piece.anew ? "|" : "") + std::string(piece.bytes);
  }
}

TEST(FileTailTest, ReadsWhatIsNew) {
  const io::TestFolder folder;
  const std::string path = folder.Path("log");
  FileTail tail(path);
  EXPECT_EQ(ReadAll(tail), "");  // it is waited for
  EXPECT_TRUE(tail.trouble().empty());
  Append(path, "one\ntwo");
  EXPECT_EQ(ReadAll(tail), "one\ntwo");
  EXPECT_EQ(ReadAll(tail), "");
  Append(path, "\nthree\n");
  EXPECT_EQ(ReadAll(tail), "\nthree\n");
}

TEST(FileTailTest, FilesThatAreBegunAnew) {
  const struct {
    const char* name;
    void (*change)(const std::string& path);
    std::string read;
  } kCases[] = {
      {"cut and written", [](const std::string& path) { Rewrite(path, "new"); }, "|new"},
      {"written beyond where it was read to",
       [](const std::string& path) { Rewrite(path, "other, and longer"); }, "|other, and longer"},
      {"cut to nothing", [](const std::string& path) { Rewrite(path, ""); }, ""},
      {"replaced",
       [](const std::string& path) {
         Append(path, "rest");
         std::filesystem::rename(path, path + ".1");
         Rewrite(path, "new");
       },
       "rest|new"},
      {"replaced by one that begins alike",
       [](const std::string& path) {
         std::filesystem::rename(path, path + ".1");
         Rewrite(path, "old text, and more");
       },
       "|old text, and more"},
      {"removed for now",
       [](const std::string& path) {
         Append(path, "rest");
         std::filesystem::remove(path);
       },
       "rest"},
  };
  for (const auto& each : kCases) {
    const io::TestFolder folder;
    const std::string path = folder.Path("log");
    Append(path, "old text");
    FileTail tail(path);
    EXPECT_EQ(ReadAll(tail), "old text") << each.name;
    each.change(path);
    EXPECT_EQ(ReadAll(tail), each.read) << each.name;
  }
}

TEST(FileTailTest, WhatIsNoFileIsTold) {
  const io::TestFolder folder;
  FileTail tail(folder.Path(""));
  EXPECT_EQ(ReadAll(tail), "");
  EXPECT_EQ(tail.trouble(), "is no plain file");
  ASSERT_EQ(mkfifo((folder.Path("pipe")).c_str(), 0600), 0);
  FileTail pipe(folder.Path("pipe"));
  EXPECT_EQ(ReadAll(pipe), "");
  EXPECT_EQ(pipe.trouble(), "is no plain file");
}

/// One allreduce a step: 20 ms of work, a little noise, 2 ms of transfer.
class TimelineWriter {
 public:
  explicit TimelineWriter(std::string path) : path_(std::move(path)) { Rewrite(path_, "[\n"); }

  /// `slow` works longer by `extra_us`.
  void Step(int slow = -1, int extra_us = 0) {
    std::string text;
    int last = 0;
    for (int rank = 0; rank < kFakeWorld; ++rank) {
      noise_ = (noise_ * 1103515245U + 12345U) & 0x7fffffffU;
      const int came =
          now_us_ + 20'000 + static_cast<int>(noise_ >> 16U) % 800 + (rank == slow ? extra_us : 0);
      if (rank == 0) text += Mark("B", "NEGOTIATE_ALLREDUCE", came);
      text += Mark("X", std::to_string(rank), came);
      last = std::max(last, came);
    }
    now_us_ = last + 2000;
    Append(path_,
           text + Mark("E", "", last) + Mark("B", "ALLREDUCE", last) + Mark("E", "", now_us_));
  }
  /// All but one come.
  void Hang(int missing) {
    std::string text = Mark("B", "NEGOTIATE_ALLREDUCE", now_us_ + 20'000);
    for (int rank = 0; rank < kFakeWorld; ++rank) {
      if (rank != missing) text += Mark("X", std::to_string(rank), now_us_ + 20'000 + rank);
    }
    Append(path_, text);
  }

 private:
  static std::string Mark(const std::string& phase, const std::string& name, int ts) {
    return R"({"ph": ")" + phase + R"(", "name": ")" + name + R"(", "ts": )" + std::to_string(ts) +
           R"(, "pid": 1},)";
  }
  std::string path_;
  int now_us_ = 0;
  unsigned noise_ = 1;
};

/// Keeps what a watcher tells.
class Ears final : public Listener {
 public:
  void OnLook(const JobLook&) override {}
  void OnJob(const JobEvents& job) override {
    jobs += job.run().name + " of " + std::to_string(job.run().world) + "\n";
  }
  void OnIncident(const JobEvents&, const Told& told) override {
    if (told.news != News::kFound) return;
    incidents += told.cause.cause;
    for (const std::int32_t rank : told.cause.culprit_ranks)
      incidents += " " + std::to_string(rank);
    incidents += "\n";
    evidence +=
        told.cause.evidence.front().file.substr(told.cause.evidence.front().file.rfind('/') + 1) +
        "\n";
  }
  void OnEnd(const JobWatch& job) override { ends += job.events().run().name + "\n"; }
  void OnLooked(const Watcher&, bool) override {}

  std::string jobs, incidents, evidence, ends;
};

/// Nothing but time.
class NoRanks final : public Source {
 public:
  explicit NoRanks(ManualClock& clock) : clock_(clock) {}
  std::vector<RankSight> Look() override { return {}; }
  void Wait(Clock::Duration until) override { clock_.Advance(until - clock_.Now()); }

 private:
  ManualClock& clock_;
};

/// A watcher over the files, which looks whenever time passes.
struct Watched {
  Watched(TailOptions options, ManualClock& time, Source& base, bool shows_base)
      : clock(time),
        source(std::move(options), base, shows_base, time),
        watcher({.detect = {}}, source, time, ears) {}
  void Pass(milliseconds time) {
    const Clock::Duration until = clock.Now() + time;
    while (clock.Now() < until) {
      watcher.Look();
      clock.Advance(milliseconds(100));
    }
  }
  ManualClock& clock;
  Ears ears;
  TailSource source;
  Watcher watcher;
};

struct TailSourceTest : testing::Test {
  TailSourceTest() { clock.Advance(seconds(1000)); }
  io::TestFolder folder;
  ManualClock clock;
  NoRanks none{clock};
};

TEST(TimelineRanksTest, ATransferThatIsLongerByItselfIsNoNetwork) {
  // Transfers of milliseconds; each round takes 10 ms more than its own.
  const std::vector<int> transfers = {2, 2, 30, 2, 2, 9, 9, 9, 9, 9, 9, 9, 9, 9};
  const std::vector<int> waits = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 9, 9};
  ingest::HorovodTimeline timeline;
  int now = 0;
  const auto mark = [&](const char* phase, const char* name) {
    timeline.Feed(std::string(R"({"ph": ")") + phase + R"(", "name": ")" + name + R"(", "ts": )" +
                  std::to_string(now) + R"(, "pid": 1},)");
  };
  for (const int transfer : transfers) {
    now += 10'000;
    mark("B", "NEGOTIATE_ALLREDUCE");
    mark("X", "0");
    mark("X", "1");
    mark("E", "");
    mark("B", "ALLREDUCE");
    now += 1000 * transfer;
    mark("E", "");
  }
  mark("B", "NEGOTIATE_ALLREDUCE");
  TimelineRanks ranks;
  const auto sights = ranks.Sights(timeline, 2, seconds(1));
  ASSERT_EQ(sights.size(), 2U);
  std::vector<int> got;
  std::vector<int> totals;
  for (const telemetry::StepRecord& record : sights[1].batch.steps) {
    got.push_back(static_cast<int>(
        record.phase_ns[static_cast<std::size_t>(telemetry::Phase::kCommunicate)] / 1'000'000));
    totals.push_back(static_cast<int>(record.total_ns / 1'000'000) - 10);
  }
  EXPECT_EQ(got, waits);
  EXPECT_EQ(totals, transfers);
  EXPECT_EQ(sights[1].batch.steps.front().flags, telemetry::kSlowFlag);  // the start of the job
}

TEST_F(TailSourceTest, NamesTheRankThatComesLate) {
  TimelineWriter timeline(folder.Path("t.json"));
  Watched job({.job = "job", .timeline = folder.Path("t.json"), .idle = seconds(5)}, clock, none,
              false);
  for (int step = 0; step < 400; ++step) {
    timeline.Step(step < 200 ? -1 : 2, 10'000);
    job.Pass(milliseconds(30));
  }
  EXPECT_EQ(job.ears.jobs, "job of 4\n");
  EXPECT_EQ(job.ears.incidents, "slow-rank 2\n");
  EXPECT_EQ(job.ears.ends, "");
  job.Pass(seconds(7));
  EXPECT_EQ(job.ears.ends, "job\n");  // it has not grown
}

TEST_F(TailSourceTest, NamesTheRankThatOthersWaitFor) {
  TimelineWriter timeline(folder.Path("t.json"));
  Watched job({.job = "job", .timeline = folder.Path("t.json")}, clock, none, false);
  for (int step = 0; step < 100; ++step) timeline.Step();
  job.Pass(seconds(2));
  timeline.Hang(3);
  job.Pass(seconds(10));
  EXPECT_EQ(job.ears.incidents, "rank-frozen 3\n");
}

TEST_F(TailSourceTest, AFileThatIsWrittenAnewIsAnotherRun) {
  TimelineWriter first(folder.Path("t.json"));
  Watched job({.job = "job", .timeline = folder.Path("t.json")}, clock, none, false);
  for (int step = 0; step < 200; ++step) first.Step();
  job.Pass(seconds(1));
  TimelineWriter second(folder.Path("t.json"));
  for (int step = 0; step < 100; ++step) second.Step();
  job.Pass(seconds(1));
  EXPECT_EQ(job.watcher.watches().front()->events().step(), 98);  // the last ends with the next
  EXPECT_EQ(job.ears.incidents, "");
}

struct LogCase {
  const char* name;
  std::vector<std::pair<const char*, std::string>> files;
  std::size_t world;
  std::string jobs, incidents, evidence;
};

std::vector<LogCase> LogCases() {
  const std::string stall =
      "[1,0]<stderr>:One or more tensors were submitted to be reduced, gathered or broadcasted by "
      "subset of ranks and are waiting for "
      "remainder of ranks for more than 60 seconds.\n[1,0]<stderr>:Missing "
      "ranks:\n[1,0]<stderr>:2: [a]\n";
  return {
      {"a stall",
       {{"job.log", "[1,3]<stdout>:x\n" + stall}},
       0,
       "job of 4\n",
       "rank-stalled 2\n",
       "job.log\n"},
      {"killed",
       {{"job.log", "[3]<stdout>:x\n[1]<stderr>:Killed\n"}},
       0,
       "job of 4\n",
       "rank-failed 1\n",
       "job.log\n"},
      {"a file for each",
       {{"rank0.log", "x\n"},
        {"rank1.log", "Segmentation fault\n"},
        {"rank2.log", "Connection reset by peer\n"}},
       0,
       "job of 3\n",
       "rank-failed 1\n",
       "rank1.log\n"},
      {"the world is told",
       {{"job.log", "[1]<stderr>:Killed\n"}},
       8,
       "job of 8\n",
       "rank-failed 1\n",
       "job.log\n"},
      {"all fail alike: nobody is to blame",
       {{"job.log", "[0]<stderr>:Killed\n[1]<stderr>:Killed\n[2]<stderr>:Killed\n"}},
       0,
       "job of 3\n",
       "rank-failed\n",
       "job.log\n"},
      {"healthy",
       {{"job.log", "[0]<stdout>:step 1\n[1]<stdout>:step 1\n"}},
       0,
       "job of 2\n",
       "",
       ""},
      {"no ranks", {{"job.log", "step 1\n"}}, 0, "", "", ""},
  };
}

TEST_F(TailSourceTest, LogsNameRanks) {
  for (const LogCase& each : LogCases()) {
    const io::TestFolder own;
    ManualClock time;
    time.Advance(seconds(1000));
    NoRanks no_ranks(time);
    Watched job(
        {.job = "job", .logs = {own.Path("*.log")}, .world = each.world, .idle = seconds(5)}, time,
        no_ranks, false);
    for (const auto& [name, text] : each.files) Append(own.Path(name), text);
    job.Pass(seconds(20));
    EXPECT_EQ(job.ears.jobs, each.jobs) << each.name;
    EXPECT_EQ(job.ears.incidents, each.incidents) << each.name;
    EXPECT_EQ(job.ears.evidence, each.evidence) << each.name;
  }
}

TEST_F(TailSourceTest, RanksThatRecordTellMoreThanTheTimeline) {
  TimelineWriter timeline(folder.Path("t.json"));
  FakeSource ranks(clock);
  Watched job({.job = "job", .timeline = folder.Path("t.json"), .logs = {folder.Path("job.log")}},
              clock, ranks, true);
  for (int step = 0; step < 300; ++step) timeline.Step(step < 150 ? -1 : 2, 10'000);
  job.Pass(seconds(10));
  EXPECT_EQ(job.ears.jobs, "job of 4\n");
  EXPECT_EQ(job.ears.incidents, "");  // the ranks themselves are well
  const auto& events = job.watcher.watches().front()->events();
  EXPECT_EQ(events.run().hosts, std::vector<std::string>{"here"});
  EXPECT_GT(events.step(), 10'000);  // those of 1,010 s, not the 300 of the file
  Append(folder.Path("job.log"), "[1]<stderr>:Killed\n");
  job.Pass(seconds(3));
  EXPECT_EQ(job.ears.incidents, "rank-failed 1\n");  // logs go with them
}

TEST_F(TailSourceTest, RanksThatAreSeenLaterTakeOver) {
  TimelineWriter timeline(folder.Path("t.json"));
  NoRanks before(clock);
  FakeSource ranks(clock);
  /// As if the ranks began to record after a while.
  class Later final : public Source {
   public:
    Later(Source& first, Source& then) : first_(first), then_(then) {}
    std::vector<RankSight> Look() override { return (begun ? then_ : first_).Look(); }
    void Wait(Clock::Duration until) override { first_.Wait(until); }
    bool begun = false;

   private:
    Source& first_;
    Source& then_;
  } base(before, ranks);
  Watched job({.job = "job", .timeline = folder.Path("t.json")}, clock, base, true);
  for (int step = 0; step < 50; ++step) timeline.Step();
  job.Pass(seconds(2));
  EXPECT_EQ(job.ears.jobs, "job of 4\n");
  base.begun = true;
  job.Pass(seconds(2));
  EXPECT_EQ(job.ears.ends, "job\n");
  EXPECT_EQ(job.ears.jobs, "job of 4\njob of 4\n");
  EXPECT_EQ(job.watcher.watches().front()->events().run().hosts, std::vector<std::string>{"here"});
}

TEST_F(TailSourceTest, FilesOfAnEndedJobGiveTheSame) {
  TimelineWriter timeline(folder.Path("t.json"));
  for (int step = 0; step < 400; ++step) timeline.Step(step < 200 ? -1 : 2, 10'000);
  Append(folder.Path("job.log"), "[1]<stderr>:Killed\n");
  JobFilesRead read;
  const auto events =
      EventsOfFiles({.timeline = folder.Path("t.json"), .logs = {folder.Path("job.log")}}, read);
  ASSERT_TRUE(events) << events.error().what();
  pipeline::State state({});
  for (const signal::Event& event : *events)
    pipeline::Step(state, std::span(&event, 1), event.received);
  std::string causes;
  for (const signal::Cause& cause : state.incidents.All())
    causes += cause.cause + " " + std::to_string(cause.culprit_ranks.front()) + "\n";
  EXPECT_EQ(causes, "slow-rank 2\nrank-failed 1\n");
  EXPECT_EQ(read.logs.front().used, 1U);
  EXPECT_EQ(read.timeline.malformed, 0U);
}

}  // namespace
}  // namespace ringward::watch
