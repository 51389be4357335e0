#include "comm/board.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "comm/suspect.h"

namespace ringward::comm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "board-test-XXXXXX").string();
    RINGWARD_CHECK(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

TEST(BoardTest, AnotherMappingSeesWhatARankWrote) {
  const TempFolder folder;
  auto made = Board::Create(folder / "board", 3);
  ASSERT_TRUE(made);
  auto opened = Board::Open(folder / "board");
  ASSERT_TRUE(opened) << opened.error().what();
  EXPECT_EQ(opened->ranks(), 3);
  EXPECT_EQ(opened->Read(1).state, RankState::kAbsent);

  made->Join(1, getpid());
  made->SetState(1, RankState::kRunning);
  made->SetStep(1, 41);
  made->Beat(1, seconds(5));
  BoardObserver observer(*made, 1);
  observer.OnEnter("allreduce", 6, 64);
  const RankStatus inside = opened->Read(1);
  EXPECT_EQ(inside.pid, getpid());
  EXPECT_GT(inside.start_time, 0U);
  EXPECT_EQ(inside.state, RankState::kRunning);
  EXPECT_EQ(inside.step, 42U);
  EXPECT_EQ(inside.beat, seconds(5));
  EXPECT_EQ(inside.entered, 7U);
  EXPECT_EQ(inside.exited, 0U);
  EXPECT_EQ(inside.operation, "allreduce");
  EXPECT_FALSE(inside.wait_status.has_value());
  observer.OnExit("allreduce", 6, true);
  EXPECT_EQ(opened->Read(1).exited, 7U);
  EXPECT_EQ(opened->Read(0).entered, 0U) << "a neighbour's slot is untouched";
}

TEST(BoardTest, LongTextsAreCut) {
  const TempFolder folder;
  auto board = Board::Create(folder / "board", 1);
  ASSERT_TRUE(board);
  board->Enter(0, "an operation with a very long name", 0);
  EXPECT_EQ(board->Read(0).operation, "an operation wit");
  board->Fail(0, std::string(5000, 'x'));
  EXPECT_EQ(board->Read(0).reason, std::string(Board::kReasonBytes, 'x'));
  EXPECT_EQ(board->Read(0).state, RankState::kFailed);
}

TEST(BoardTest, TheFirstEndAndTheFirstReasonStand) {
  const TempFolder folder;
  auto board = Board::Create(folder / "board", 1);
  ASSERT_TRUE(board);
  board->SetEnded(0, SIGKILL, milliseconds(3));
  board->SetEnded(0, 0, milliseconds(4));
  EXPECT_EQ(board->Read(0).wait_status, SIGKILL);
  EXPECT_EQ(board->Read(0).ended, milliseconds(3));
  board->Fail(0, "disk full");
  board->Fail(0, "peer lost");
  EXPECT_EQ(board->Read(0).reason, "disk full");
}

TEST(BoardTest, OneOfManyAccusersWins) {
  const TempFolder folder;
  auto board = Board::Create(folder / "board", 8);
  ASSERT_TRUE(board);
  EXPECT_FALSE(board->verdict().has_value());
  std::atomic<int> winners{0};
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int rank = 0; rank < 8; ++rank) {
    threads.emplace_back([&, rank] {
      if (board->Accuse(rank, rank, "said by " + std::to_string(rank))) ++winners;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(winners, 1);
  const auto verdict = board->verdict();
  ASSERT_TRUE(verdict.has_value());
  EXPECT_EQ(verdict->why, "said by " + std::to_string(verdict->culprit));
  EXPECT_EQ(verdict->accuser, verdict->culprit);
  EXPECT_FALSE(board->Accuse(-1, -1, "too late"));
}

TEST(BoardTest, RefusesWhatIsNoBoard) {
  const TempFolder folder;
  EXPECT_EQ(Board::Create(folder / "none", 0).error().code(), Code::kInvalidInput);
  EXPECT_EQ(Board::Create(folder / "none", Board::kMaxRanks + 1).error().code(),
            Code::kInvalidInput);
  EXPECT_EQ(Board::Open(folder / "none").error().code(), Code::kResource);
  ASSERT_TRUE(Board::Create(folder / "board", 2));
  EXPECT_EQ(Board::Create(folder / "board", 2).error().code(), Code::kResource) << "exists";
  std::filesystem::resize_file(folder / "board", std::filesystem::file_size(folder / "board") - 1);
  EXPECT_EQ(Board::Open(folder / "board").error().code(), Code::kCorrupt) << "cut short";
  std::ofstream(folder / "zeros") << std::string(8192, '\0');
  EXPECT_EQ(Board::Open(folder / "zeros").error().code(), Code::kCorrupt);
}

TEST(HeartbeatTest, BeatsWhileItsOwnerIsBusy) {
  const TempFolder folder;
  auto board = Board::Create(folder / "board", 1);
  ASSERT_TRUE(board);
  const Heartbeat heartbeat(*board, 0);
  const auto first = board->Read(0).beat;
  EXPECT_GT(first.count(), 0);
  const auto give_up = std::chrono::steady_clock::now() + seconds(30);
  while (board->Read(0).beat == first && std::chrono::steady_clock::now() < give_up) {
  }
  EXPECT_GT(board->Read(0).beat, first);
}

/// A stand-in for /proc and a board of four ranks, pids 100 to 103.
class SuspectTest : public testing::Test {
 protected:
  void SetUp() override {
    auto board = Board::Create(folder_ / "board", kRanks);
    ASSERT_TRUE(board);
    board_ = std::make_unique<Board>(*std::move(board));
    for (int rank = 0; rank < kRanks; ++rank) {
      board_->Join(rank, 100 + rank);
      board_->SetState(rank, RankState::kRunning);
      board_->Beat(rank, kNow);
      board_->Enter(rank, "allreduce", 10);
      SetProcess(rank, 'S');
    }
  }
  void SetProcess(int rank, char state) {
    const std::string path = folder_ / std::to_string(100 + rank);
    std::filesystem::create_directories(path);
    std::ofstream(path + "/stat") << 100 + rank << " (odd) name) " << state
                                  << " 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0\n";
  }
  void RemoveProcess(int rank) {
    std::filesystem::remove_all(folder_ / std::to_string(100 + rank));
  }
  Suspicion Find(std::chrono::nanoseconds now = kNow) const {
    return Suspect(*board_, now, {.silent_after = seconds(2), .proc = folder_ / "."});
  }

  static constexpr int kRanks = 4;
  static constexpr std::chrono::nanoseconds kNow = seconds(1000);
  TempFolder folder_;
  std::unique_ptr<Board> board_;
};

TEST_F(SuspectTest, NobodyWhenAllWaitTogether) {
  EXPECT_EQ(Find().rank, -1);
  EXPECT_EQ(Find().ground, Ground::kNone);
}

TEST_F(SuspectTest, EachGroundNamesItsRank) {
  board_->Enter(0, "allreduce", 11);
  board_->Enter(1, "allreduce", 11);
  board_->Enter(3, "allreduce", 11);
  EXPECT_EQ(Find().rank, 2);
  EXPECT_EQ(Find().ground, Ground::kBehind);
  EXPECT_EQ(
      Find().why,
      "it is still at its own work after collective 11; others wait in number 12 (allreduce)");

  for (const int rank : {0, 2, 3}) board_->Beat(rank, kNow + seconds(3));
  EXPECT_EQ(Find(kNow + seconds(3)).rank, 1) << "a stopped heartbeat outweighs being behind";
  EXPECT_EQ(Find(kNow + seconds(3)).ground, Ground::kSilent);
  EXPECT_EQ(Find(kNow + seconds(3)).why, "no heartbeat for 3.0 s");

  SetProcess(3, 'T');
  EXPECT_EQ(Find().rank, 3) << "a stopped process outweighs a heartbeat";
  EXPECT_EQ(Find().ground, Ground::kStopped);

  board_->SetState(2, RankState::kFinished);
  EXPECT_EQ(Find().rank, 2);
  EXPECT_EQ(Find().ground, Ground::kLeft);

  RemoveProcess(0);
  EXPECT_EQ(Find().rank, 0) << "a lost process outweighs all";
  EXPECT_EQ(Find().ground, Ground::kGone);
}

TEST_F(SuspectTest, TiesAreUndecidedAndNamed) {
  board_->Enter(0, "barrier", 11);
  board_->Enter(3, "barrier", 11);
  EXPECT_EQ(Find().rank, -1);
  EXPECT_EQ(Find().why, "ranks 1, 2 are still at their own work");
  SetProcess(0, 'T');
  SetProcess(1, 't');
  EXPECT_EQ(Find().rank, -1);
  EXPECT_EQ(Find().ground, Ground::kStopped);
  EXPECT_EQ(Find().why, "ranks 0, 1 are stopped");
}

TEST_F(SuspectTest, AMachineThatSleptBlamesNobody) {
  EXPECT_EQ(Find(kNow + seconds(60)).ground, Ground::kNone);
}

TEST_F(SuspectTest, ZombiesAreGoneAndVictimsAreNot) {
  board_->Fail(0, "peer lost");
  RemoveProcess(0);
  board_->SetState(1, RankState::kFinished);
  RemoveProcess(1);
  EXPECT_EQ(Find().rank, -1) << "failed with a reason, or finished: no culprit";
  SetProcess(2, 'Z');
  EXPECT_EQ(Find().rank, 2);
  EXPECT_EQ(Find().why, "its process 102 is gone");
}

TEST_F(SuspectTest, ARankThatNeverCameIsNamed) {
  auto board = Board::Create(folder_ / "young", 2);
  ASSERT_TRUE(board);
  const SuspectOptions options{.proc = folder_ / "."};
  EXPECT_EQ(Suspect(*board, kNow, options).rank, -1) << "nobody is there yet";
  board->Join(1, 101);
  EXPECT_EQ(Suspect(*board, kNow, options).rank, 0);
  EXPECT_EQ(Suspect(*board, kNow, options).ground, Ground::kAbsent);
}

TEST(ProcessStatTest, ReadsARealProcessThroughItsLife) {
  const pid_t pid = fork();
  if (pid == 0) {
    pause();
    _exit(0);
  }
  ASSERT_GT(pid, 0);
  const auto living = ReadProcessStat(pid);
  ASSERT_TRUE(living.has_value());
  EXPECT_EQ(living->parent, getpid());
  kill(pid, SIGSTOP);
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, WUNTRACED), pid);
  EXPECT_EQ(ReadProcessStat(pid)->state, 'T');
  EXPECT_EQ(ReadProcessStat(pid)->start_time, living->start_time);
  kill(pid, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(ReadProcessStat(pid)->state, 'Z');
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_FALSE(ReadProcessStat(pid).has_value());
}

// A process that ends between opening and reading gives an error to the read, as a folder does.
TEST(ProcessStatTest, AFailedReadIsNoProcess) {
  const std::string proc = ::testing::TempDir() + "/ringward-proc-" + std::to_string(getpid());
  std::filesystem::create_directories(proc + "/7/stat");
  EXPECT_FALSE(ReadProcessStat(7, proc).has_value());
  std::filesystem::remove_all(proc);
}

}  // namespace
}  // namespace ringward::comm
