#include "ingest/rank_log/rank_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringward::ingest {
namespace {

TEST(TagsTest, RankOfAFile) {
  const struct {
    const char* path;
    std::int32_t rank;
  } kCases[] = {
      {"rank3.log", 3},
      {"logs/rank-12.log", 12},
      {"logs/rank_7.err", 7},
      {"out/rank.3/stdout", 3},
      {"out/1/rank.03/stderr", 3},
      {"worker_5.out", 5},
      {"run/attempt_0/2/stderr.log", 2},
      {"train.log", -1},
      {"job42.log", -1},
      {"rank.log", -1},
      {"2/train.log", -1},
      {"rank99999999999.log", -1},
      {"", -1},
  };
  for (const auto& each : kCases) EXPECT_EQ(RankOfFile(each.path), each.rank) << each.path;
}

TEST(TagsTest, RanksAndTextsOfLines) {
  const struct {
    const char* name;
    std::int32_t file_rank;
    std::vector<std::string> lines;
    std::vector<std::string> read;  ///< "rank|text"
  } kCases[] = {
      {"mpirun",
       -1,
       {"[1,3]<stdout>:step 1", "[1,0]<stderr>: x", "banner"},
       {"3|step 1", "0| x", "-1|banner"}},
      {"Open MPI 5", -1, {"[prterun-node-7@1,3]<stdout>:step 1"}, {"3|step 1"}},
      {"horovodrun", -1, {"[3]<stderr>:step 1"}, {"3|step 1"}},
      {"with the time",
       -1,
       {"Sun Nov 29 17:40:00 2026[1,2]<stdout>:a", "Fri Sep 11 07:07:20 2020[0]<stderr>:b",
        "Fri Sep  4 07:07:20 2020 [0]<stderr>:c"},
       {"2|a", "0|b", "0|c"}},
      {"tags in the middle",
       -1,
       {"[1,0]<stderr>:[[1,0]<stderr>:2026: W[1,0]<stderr>: x]", "a [1,2]<stdout>:b"},
       {"0|[2026: W x]", "2|a b"}},
      {"torchrun",
       -1,
       {"[default3]:step 1", "[trainer0]: x", "[rank8]:[E815] y", "plain"},
       {"3|step 1", "0|x", "8|[E815] y", "-1|plain"}},
      {"ringward run", -1, {"[0] a", "[13] b", "[x] c"}, {"0|a", "13|b", "-1|[x] c"}},
      {"srun --label", -1, {"0: a", "03: b", "c"}, {"0|a", "3|b", "-1|c"}},
      {"no tags: brackets are the lines' own",
       -1,
       {"start", "[2024] a", "3: b"},
       {"-1|start", "-1|[2024] a", "-1|3: b"}},
      {"other tags: the same",
       -1,
       {"[1,0]<stdout>:a", "[2024] b", "1: [t]"},
       {"0|a", "-1|[2024] b", "-1|1: [t]"}},
      {"a file of one rank", 5, {"0: a", "[1] b", "[1,2]<stdout>:c"}, {"5|0: a", "5|[1] b", "5|c"}},
      {"colours, CR and 0",
       -1,
       {"[1,3]<stdout>:\x1b[31mred\x1b[0m x\r", std::string("[1,3]<stdout>:a\0b", 17)},
       {"3|red x", "3|ab"}},
      {"no tag after all",
       -1,
       {"[1,x]<stdout>:a", "[]<stdout>:b", "]<stdout>:c", "[1,3]<stdin>:d", "[-1]<stdout>:e",
        "[999999999]<stdout>:f"},
       {"-1|[1,x]<stdout>:a", "-1|[]<stdout>:b", "-1|]<stdout>:c", "-1|[1,3]<stdin>:d",
        "-1|[-1]<stdout>:e", "-1|[999999999]<stdout>:f"}},
  };
  for (const auto& each : kCases) {
    TagReader tags(each.file_rank);
    std::vector<std::string> read;
    for (const std::string& line : each.lines) {
      const TaggedLine tagged = tags.Read(line);
      read.push_back(fmt::format("{}|{}", tagged.rank, tagged.text));
    }
    EXPECT_EQ(read, each.read) << each.name;
  }
}

/// "failed 1 process-crash 5: text" for each word.
std::string TextOf(const std::vector<LogWord>& words) {
  std::string text;
  for (const LogWord& word : words) {
    const char* const kind = word.kind == LogWord::Kind::kStalled   ? "stalled"
                             : word.kind == LogWord::Kind::kDiffers ? "differs"
                                                                    : "failed";
    text += kind;
    for (const std::int32_t rank : word.ranks) text += fmt::format(" {}", rank);
    text += fmt::format(" {} {}: {}\n", signal::NameOf(word.category), word.line, word.text);
  }
  return text;
}

struct Case {
  const char* name;
  std::string text;
  std::string words;
};

/// What the stall inspector says.
std::vector<Case> StallCases() {
  const std::string opening =
      "[0]<stderr>:[2026-11-29 17:43:40.860677: W stall_inspector.cc:107] One or more tensors were "
      "submitted to be reduced, gathered or "
      "broadcasted by subset of ranks and are waiting for remainder of ranks for more than 10 "
      "seconds. This may indicate a deadlock. \n";
  return {
      {"nothing", "", ""},
      {"an untroubled job", "[0]<stdout>:step 1 loss 0.2\n[1]<stderr>:WARNING: slow disk\n", ""},
      {"missing ranks",
       opening + "[0]<stderr>:Missing ranks:\n[0]<stderr>:1: [allreduce.a, allreduce.b "
                 "...]\n[0]<stdout>:step\n",
       "stalled 1 communication 3: 1: [allreduce.a, allreduce.b ...]\n"},
      {"nothing follows", opening + "[0]<stderr>:Missing ranks:\n[0]<stderr>:1: [allreduce.a]",
       "stalled 1 communication 3: 1: [allreduce.a]\n"},
      {"another rank speaks in between",
       opening + "[0]<stderr>:Missing ranks:\n[2]<stdout>:step 3\n[0]<stderr>:1!: [allreduce.a]\n",
       "stalled 1 communication 4: 1!: [allreduce.a]\n"},
      {"the older text",
       opening + "[0]<stderr>:Stalled ranks:\n[0]<stderr>:2: [a]\n[0]<stderr>:5: [a]\n",
       "stalled 2 5 communication 3: 2: [a]\n"},
      {"the oldest text",
       opening + "[0]<stderr>:Stalled ops:\n[0]<stderr>:a [missing ranks: 1, 3]\n[0]<stderr>:b "
                 "[missing ranks: 1, 3]\n",
       "stalled 1 3 communication 4: b [missing ranks: 1, 3]\n"},
      {"in different collectives",
       opening + "[0]<stderr>:Missing ranks:\n[0]<stderr>:0: [b]\n[0]<stderr>:1: "
                 "[a]\n[0]<stderr>:2: [b]\n",
       "differs 1 communication 4: 1: [a]\n"},
      {"one against one",
       opening + "[0]<stderr>:Missing ranks:\n[0]<stderr>:0: [b]\n[0]<stderr>:1: [a]\n",
       "differs communication 4: 1: [a]\n"},
  };
}

/// How tracebacks end.
std::vector<Case> TracebackCases() {
  const std::string traceback =
      "[1]<stderr>:Traceback (most recent call last):\n[1]<stderr>:  File \"t.py\", line 7, in "
      "<module>\n[1]<stderr>:    f()\n[1]<stderr>:    ^^^\n";
  std::string more;
  for (int line = 0; line < RankLog::kCaughtLines; ++line)
    more += "[1]<stdout>:step " + std::to_string(line) + "\n";
  return {
      {"a traceback", traceback + "[1]<stderr>:RuntimeError: injected\n",
       "failed 1 process-crash 5: RuntimeError: injected\n"},
      {"an error in a module",
       traceback +
           "[1]<stderr>:torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB\n",
       "failed 1 memory 5: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 "
       "GiB\n"},
      {"the first of two",
       traceback +
           "[1]<stderr>:ValueError: a\n[1]<stderr>:\n[1]<stderr>:During handling of the above "
           "exception, another exception occurred:\n" +
           traceback + "[1]<stderr>:KeyError: b\n",
       "failed 1 process-crash 5: ValueError: a\n"},
      {"caught: the rank goes on", traceback + "[1]<stderr>:OSError: retry\n" + more, ""},
      {"what follows from another's end",
       traceback +
           "[1]<stderr>:RuntimeError: Horovod has been shut down. This was caused by an "
           "exception\n" +
           traceback + "[1]<stderr>:ValueError: late\n",
       ""},
      {"interrupted", traceback + "[1]<stderr>:KeyboardInterrupt\n", ""},
      {"a mismatch",
       traceback + "[1]<stderr>:RuntimeError: Mismatched data types: One rank had type float32, "
                   "but another rank had type float64.\n",
       "failed communication 5: RuntimeError: Mismatched data types: One rank had type float32, "
       "but another rank had type float64.\n"},
  };
}

/// Every row of the table of errors, and what is none.
std::vector<Case> LineCases() {
  return {
      {"out of memory", "[1]<stderr>:RuntimeError: CUDA error: out of memory\n",
       "failed 1 memory 1: RuntimeError: CUDA error: out of memory\n"},
      {"out of memory, C++", "[1]<stderr>:  what():  std::bad_alloc\n",
       "failed 1 memory 1:   what():  std::bad_alloc\n"},
      {"NCCL", "[1]<stdout>:n7:1:2 [0] NCCL WARN Call to connect failed\n",
       "failed 1 communication 1: n7:1:2 [0] NCCL WARN Call to connect failed\n"},
      {"NCCL's advice", "[1]<stdout>:n7:1:2 [0] NCCL WARN Cuda Host Alloc is slow\n", ""},
  };
}

/// Of launchers, shells and the ends of others.
std::vector<Case> LauncherCases() {
  return {
      {"MPI_ABORT", "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\n",
       "failed 3 process-crash 1: MPI_ABORT was invoked on rank 3 in communicator "
       "MPI_COMM_WORLD\n"},
      {"mpirun",
       "mpirun noticed that process rank 2 with PID 0 on node vm exited on signal 9 (Killed).\n",
       "failed 2 process-crash 1: mpirun noticed that process rank 2 with PID 0 on node vm exited "
       "on signal 9 (Killed).\n"},
      {"horovodrun",
       "Process 2 exit with status code 137.\nProcess 0 exit with status code 143.\nProcess 1 exit "
       "with status code 1.\n",
       "failed 2 process-crash 1: Process 2 exit with status code 137.\n"},
      {"srun",
       "srun: error: n7: task 3: Out Of Memory\nsrun: error: n7: task 1: Segmentation fault (core "
       "dumped)\nsrun: error: n7: task 2: Exited with exit code 1\n",
       "failed 3 memory 1: srun: error: n7: task 3: Out Of Memory\nfailed 1 process-crash 2: srun: "
       "error: n7: task 1: Segmentation fault (core dumped)\n"},
      {"killed", "[2]<stderr>:Killed\n[0]<stderr>:Terminated\n",
       "failed 2 process-crash 1: Killed\n"},
      {"killed, told twice", "[2]<stderr>:Killed\nProcess 2 exit with status code 137.\n",
       "failed 2 process-crash 1: Killed\n"},
      {"signals",
       "[0]<stderr>:Segmentation fault (core dumped)\n[1]<stderr>:Bus error\n[2]<stderr>:Aborted "
       "(core dumped)\n[3]<stderr>:[n:1] *** Process received signal ***\n",
       "failed 0 process-crash 1: Segmentation fault (core dumped)\nfailed 1 process-crash 2: Bus "
       "error\nfailed 2 process-crash 3: Aborted (core dumped)\n"
       "failed 3 process-crash 4: [n:1] *** Process received signal ***\n"},
      {"the interpreter", "[0]<stderr>:Fatal Python error: Segmentation fault\n",
       "failed 0 process-crash 1: Fatal Python error: Segmentation fault\n"},
      {"C++", "[0]<stderr>:terminate called after throwing an instance of 'std::runtime_error'\n",
       "failed 0 process-crash 1: terminate called after throwing an instance of "
       "'std::runtime_error'\n"},
      {"of PyTorch's mismatch the one that sees it is not the one",
       "[1]<stderr>:RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is "
       "running\n",
       "failed communication 1: RuntimeError: Detected mismatch between collectives on ranks. Rank "
       "1 is running\n"},
      {"torchrun's and Gloo's words after another's end",
       "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n[1]<stderr>:terminate "
       "called after throwing an instance of 'gloo::IoException'\n",
       ""},
      {"peers that are gone",
       "[1]<stderr>:Read error [127.0.0.1]:42731: Connection reset by peer\n[1]<stderr>:Killed\n",
       ""},
      {"of no rank", "Traceback (most recent call last):\n  File \"x\"\nImportError: no module\n",
       "failed process-crash 3: ImportError: no module\n"},
      {"the launcher's own end",
       "Traceback (most recent call last):\n  File \"x\"\nRuntimeError: Horovod detected that one "
       "or more processes exited with non-zero status, thus causing the job to be terminated.\n",
       ""},
      {"bars of progress", "[1]<stderr>:\r 10%\r[1]<stderr>: 20%\rKilled\n\n[2]<stderr>:Killed\n",
       "failed process-crash 1: Killed\nfailed 2 process-crash 3: Killed\n"},
      {"no UTF-8", "[2]<stderr>:\xff\xfe Fatal Python error: \x01\n",
       "failed 2 process-crash 1: ?? Fatal Python error: \\x01\n"},
  };
}

std::vector<Case> Cases() {
  std::vector<Case> cases = StallCases();
  for (Case& each : TracebackCases()) cases.push_back(std::move(each));
  for (Case& each : LineCases()) cases.push_back(std::move(each));
  for (Case& each : LauncherCases()) cases.push_back(std::move(each));
  return cases;
}

TEST(RankLogTest, SaysWhatEndsRanks) {
  for (const Case& each : Cases()) {
    RankLog log;
    log.Feed(each.text);
    log.Finish();
    EXPECT_EQ(TextOf(log.Take()), each.words) << each.name;
  }
}

TEST(RankLogTest, PiecesCutAnywhereGiveTheSame) {
  for (const Case& each : Cases()) {
    for (std::size_t cut = 0; cut <= each.text.size(); ++cut) {
      RankLog log;
      log.Feed(std::string_view(each.text).substr(0, cut));
      log.Feed(std::string_view(each.text).substr(cut));
      log.Finish();
      ASSERT_EQ(TextOf(log.Take()), each.words) << each.name << " cut at " << cut;
    }
  }
}

TEST(RankLogTest, WaitsUntilARankHasNothingMoreToSay) {
  RankLog log;
  log.Feed("[1]<stderr>:Traceback (most recent call last):\n[1]<stderr>:ValueError: a\n");
  log.Settle();
  EXPECT_EQ(TextOf(log.Take()), "");  // it has printed since the call before
  log.Feed("[0]<stdout>:step\n");
  log.Settle();
  EXPECT_EQ(TextOf(log.Take()), "failed 1 process-crash 2: ValueError: a\n");
  log.Finish();
  EXPECT_EQ(TextOf(log.Take()), "");
}

TEST(RankLogTest, OneErrorARank) {
  RankLog log;
  log.Feed("[1]<stderr>:Killed\n[1]<stderr>:Segmentation fault\n[2]<stderr>:Killed\n");
  log.Restart();  // rotated: lines count anew
  log.Feed("[1]<stderr>:Killed\n[3]<stderr>:Killed\n");
  EXPECT_EQ(TextOf(log.Take()),
            "failed 1 process-crash 1: Killed\nfailed 2 process-crash 3: Killed\nfailed 3 "
            "process-crash 2: Killed\n");
  EXPECT_EQ(log.highest_rank(), 3);
}

TEST(RankLogTest, LongLinesAreCut) {
  RankLog log(4);
  log.Feed(std::string(3 * RankLog::kLineMost, 'x'));
  log.Feed("\nKilled\n");
  EXPECT_EQ(log.counts().cut, 1U);
  EXPECT_EQ(log.counts().lines, 2U);
  EXPECT_EQ(TextOf(log.Take()), "failed 4 process-crash 2: Killed\n");
}

TEST(RankLogTest, RanksAreBounded) {
  RankLog log;
  for (std::size_t rank = 0; rank < 2 * RankLog::kRanksMost; ++rank)
    log.Feed(fmt::format("[{}]<stderr>:Killed\n", rank));
  EXPECT_EQ(log.Take().size(), RankLog::kRanksMost);
}

}  // namespace
}  // namespace ringward::ingest
