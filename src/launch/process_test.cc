#include "launch/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "launch/job_folder.h"
#include "launch/line_tail.h"
#include "launch/output.h"
#include "launch/test_folder.h"

namespace ringward::launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

SpawnOptions Shell(const std::string& script) {
  return {.command = {"/bin/sh", "-c", script}, .environment = CurrentEnvironment()};
}

int WaitFor(pid_t pid) {
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return status;
}

TEST(SpawnTest, GivesStatusSignalAndDescription) {
  const auto ended = [](const std::string& script) {
    const auto pid = Spawn(Shell(script));
    RINGWARD_CHECK(static_cast<bool>(pid));
    return DescribeExit(WaitFor(*pid));
  };
  EXPECT_EQ(ended("exit 7"), "exited with status 7");
  EXPECT_EQ(ended("kill -KILL $$"), "was killed by SIGKILL");
  EXPECT_EQ(SignalName(SIGTERM), "SIGTERM");
  EXPECT_EQ(SignalName(63), "signal 63");
}

TEST(SpawnTest, AProgramThatCannotStartIsAnError) {
  const auto pid = Spawn({.command = {"/no/such/program"}});
  ASSERT_FALSE(pid);
  EXPECT_EQ(pid.error().code(), Code::kResource);
  EXPECT_EQ(pid.error().what(), "cannot start /no/such/program: No such file or directory");
}

TEST(SpawnTest, IgnoredSignalsAreDefaultAgainInTheChild) {
  const auto before = signal(SIGUSR1, SIG_IGN);
  const auto pid = Spawn(Shell("kill -USR1 $$; exit 0"));
  signal(SIGUSR1, before);
  ASSERT_TRUE(pid);
  EXPECT_EQ(DescribeExit(WaitFor(*pid)), "was killed by SIGUSR1");
}

TEST(CaptureTest, ReturnsWhatWasWrittenOrTimesOut) {
  EXPECT_EQ(*Capture({"/bin/echo", "hello"}, seconds(30)), "hello\n");
  const auto slow = Capture({"/bin/sleep", "100"}, milliseconds(50));
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().code(), Code::kTimeout);
}

TEST(ProcessTest, ADescriptorNeverNamesAnotherProcess) {
  const auto pid = Spawn(Shell("sleep 100"));
  ASSERT_TRUE(pid);
  EXPECT_TRUE(static_cast<bool>(OpenProcess(*pid, 0)));
  EXPECT_FALSE(static_cast<bool>(OpenProcess(*pid, 1))) << "started at another time";
  kill(-*pid, SIGKILL);
  WaitFor(*pid);
  EXPECT_FALSE(static_cast<bool>(OpenProcess(*pid, 0)));
}

TEST(KillTaggedTest, ReachesStoppedAndOrphanedProcessesAndNoOthers) {
  const std::string tag = "tag-" + std::to_string(getpid());
  auto tagged = Shell("setsid sleep 100 & sleep 100 & exec sleep 100");
  tagged.environment["RINGWARD_TEST_TAG"] = tag;
  auto other = Shell("exec sleep 100");
  other.environment["RINGWARD_TEST_TAG"] = tag + "x";
  const auto victim = Spawn(tagged);
  const auto bystander = Spawn(other);
  ASSERT_TRUE(victim && bystander);
  kill(*victim, SIGSTOP);
  EXPECT_EQ(KillTagged("RINGWARD_TEST_TAG", tag, seconds(30)), 0);
  EXPECT_EQ(DescribeExit(WaitFor(*victim)), "was killed by SIGKILL");
  EXPECT_EQ(kill(*bystander, 0), 0) << "a longer value is another value";
  kill(*bystander, SIGKILL);
  WaitFor(*bystander);
}

TEST(LineTailTest, KeepsTheLastLinesBounded) {
  LineTail tail(2, 5);
  EXPECT_TRUE(tail.Lines().empty());
  tail.Add("one\ntwo\nthr");
  EXPECT_EQ(tail.Lines(), (std::vector<std::string>{"two", "thr"}));
  tail.Add("ee and more\n");
  EXPECT_EQ(tail.Lines(), (std::vector<std::string>{"two", "three"}));
  tail.Add("10 %\r20 %\r30 %\r");
  EXPECT_EQ(tail.Lines(), (std::vector<std::string>{"three", "30 %"}));
  tail.Add("\nend\r\n");
  EXPECT_EQ(tail.Lines(), (std::vector<std::string>{"30 %", "end"}));
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A rank that writes `text` to one of its pipes.
void WriteTo(const std::string& pipe, const std::string& text) {
  const Fd fd(open(pipe.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(write(fd.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

TEST(JobFolderTest, IsItsOwnersWhateverTheUmask) {
  const TestFolder base;
  const mode_t before = umask(0777);
  auto folder = JobFolder::Create(1, "/bin/true", base.path());
  umask(before);
  ASSERT_TRUE(folder) << folder.error().what();
  struct stat info {};
  ASSERT_EQ(stat(folder->path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  folder->Close();
  EXPECT_TRUE(std::filesystem::is_empty(base.path()));
}

TEST(OutputTest, PassesOnLogsAndKeepsTails) {
  const TestFolder folder;
  const Fd out(open((folder.path() + "/out").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  const Fd err(open((folder.path() + "/err").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  auto output = Output::Start({.ranks = 2,
                               .folder = folder.path(),
                               .log_dir = folder.path() + "/logs/run",
                               .out = out.get(),
                               .err = err.get()});
  ASSERT_TRUE(output) << output.error().what();
  WriteTo(OutPipe(folder.path(), 0), "a result\nno newline");
  WriteTo(ErrPipe(folder.path(), 1), "trouble\n");
  ASSERT_EQ(write((*output)->engine_fd(), "noise\n", 6), 6);
  (*output)->Stop(seconds(30));
  EXPECT_EQ(ReadFile(folder.path() + "/out"), "a result\nno newline");
  EXPECT_EQ(ReadFile(folder.path() + "/err"), "trouble\n");
  EXPECT_EQ(ReadFile(folder.path() + "/logs/run/rank-1.log"), "trouble\n");
  EXPECT_EQ((*output)->Tail(0), (std::vector<std::string>{"a result", "no newline"}));
  EXPECT_EQ((*output)->Tail(1), (std::vector<std::string>{"trouble"}));
  EXPECT_EQ((*output)->Tail(Output::kEngine), (std::vector<std::string>{"noise"}));
  EXPECT_TRUE((*output)->status());
}

TEST(OutputTest, ALogOnAFullDiskEndsWithOneWarning) {
  const TestFolder folder;
  const Fd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
  for (const char* rank : {"/rank-0.log", "/rank-1.log"}) {
    ASSERT_EQ(symlink("/dev/full", (folder.path() + rank).c_str()), 0);
  }
  testing::internal::CaptureStderr();
  auto output = Output::Start({.ranks = 2,
                               .folder = folder.path(),
                               .log_dir = folder.path(),
                               .out = null.get(),
                               .err = null.get()});
  ASSERT_TRUE(output);
  for (const int rank : {0, 1, 0}) WriteTo(OutPipe(folder.path(), rank), "lost\n");
  (*output)->Stop(seconds(30));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE((*output)->status());
  EXPECT_NE(said.find(" warning logs of ranks are incomplete: " + folder.path()), std::string::npos)
      << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST(OutputTest, RanksDoNotMixWithinALine) {
  const TestFolder folder;
  const Fd out(open((folder.path() + "/out").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  auto output = Output::Start({.ranks = 2, .folder = folder.path(), .out = out.get()});
  ASSERT_TRUE(output);
  std::array<std::thread, 2> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    ranks[static_cast<std::size_t>(rank)] = std::thread([&, rank] {
      const std::string half(3000, rank == 0 ? 'a' : 'b');
      for (int i = 0; i < 50; ++i) {
        WriteTo(OutPipe(folder.path(), rank), half);
        WriteTo(OutPipe(folder.path(), rank), half + "\n");
      }
    });
  }
  for (auto& rank : ranks) rank.join();
  (*output)->Stop(seconds(60));
  std::ifstream lines(folder.path() + "/out");
  int whole = 0;
  for (std::string line; std::getline(lines, line); ++whole) {
    EXPECT_EQ(line, std::string(6000, line.front()));
  }
  EXPECT_EQ(whole, 100);
}

TEST(OutputTest, InputReachesRankZeroWholeAndEnds) {
  const TestFolder folder;
  const std::string text(300'000, 'x');
  folder.Write("/input", text);
  const Fd in(open((folder.path() + "/input").c_str(), O_RDONLY | O_CLOEXEC));
  auto output = Output::Start({.ranks = 1, .folder = folder.path(), .in = in.get()});
  ASSERT_TRUE(output);
  EXPECT_EQ(ReadFile(InPipe(folder.path())), text);
  (*output)->Stop(seconds(30));
}

TEST(OutputTest, AFullDiskIsSaidWithItsStream) {
  for (const bool of_out : {true, false}) {
    const TestFolder folder;
    const Fd null(open("/dev/null", O_WRONLY | O_CLOEXEC));
    const Fd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
    auto output = Output::Start({.ranks = 1,
                                 .folder = folder.path(),
                                 .out = of_out ? full.get() : null.get(),
                                 .err = of_out ? null.get() : full.get()});
    ASSERT_TRUE(output);
    WriteTo(of_out ? OutPipe(folder.path(), 0) : ErrPipe(folder.path(), 0), "lost\n");
    (*output)->Stop(seconds(30));
    const Status status = (*output)->status();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().what(), std::string(of_out ? "standard output" : "standard error") +
                                         ": No space left on device");
    EXPECT_FALSE((*output)->reader_left());
  }
}

TEST(OutputTest, ALostReaderIsNoticedAndAStoppedOneIsLeftBehind) {
  const TestFolder folder;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  Fd reader(ends[0]);
  const Fd writer(ends[1]);
  auto output = Output::Start(
      {.ranks = 1, .folder = folder.path(), .out = writer.get(), .err = writer.get()});
  ASSERT_TRUE(output);
  // More than both pipes hold: rank's writer blocks until the test gives up reading.
  std::thread rank([&] {
    const Fd fd(open(OutPipe(folder.path(), 0).c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    const std::string block(4096, '\n');
    const auto end = std::chrono::steady_clock::now() + milliseconds(300);
    while (std::chrono::steady_clock::now() < end) {
      static_cast<void>(!write(fd.get(), block.data(), block.size()));
    }
  });
  rank.join();
  EXPECT_TRUE((*output)->status()) << "a reader that pauses is not lost";
  reader.reset();
  const auto end = std::chrono::steady_clock::now() + seconds(30);
  while ((*output)->status() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_TRUE((*output)->reader_left());
  (*output)->Stop(milliseconds(100));
}

}  // namespace
}  // namespace ringward::launch
