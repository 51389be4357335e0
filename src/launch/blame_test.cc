// Who is named as the first to fail, and who counts as frozen.
#include "launch/blame.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launch/freeze_watch.h"
#include "launch/test_folder.h"

namespace ringward::launch {
namespace {

using comm::RankState;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int Exited(int status) { return status << 8; }  // as waitpid() says it

RankEvidence Running() {
  RankEvidence rank;
  rank.status.state = RankState::kRunning;
  rank.status.pid = 70;
  return rank;
}
RankEvidence Ended(int wait_status, int at_ms, RankState state = RankState::kRunning) {
  RankEvidence rank = Running();
  rank.status.state = state;
  rank.status.wait_status = wait_status;
  rank.status.ended = milliseconds(at_ms);
  rank.dead = true;
  return rank;
}
RankEvidence Victim(int at_ms, const std::string& reason) {
  RankEvidence rank = Ended(Exited(3), at_ms, RankState::kFailed);
  rank.status.reason = reason;
  return rank;
}
RankEvidence Vanished(int dead_ms) {
  RankEvidence rank = Running();
  rank.dead = true;
  rank.dead_for = milliseconds(dead_ms);
  return rank;
}

struct BlameCase {
  const char* name;
  Evidence evidence;
  int rank;
  const char* what;
  int exit_code;
};

class BlameTest : public testing::TestWithParam<BlameCase> {};

TEST_P(BlameTest, NamesTheFirstToFail) {
  const BlameCase& c = GetParam();
  EXPECT_TRUE(HasFailed(c.evidence));
  EXPECT_FALSE(HasFinished(c.evidence));
  const Failure failure = Blame(c.evidence);
  EXPECT_EQ(failure.rank, c.rank);
  EXPECT_EQ(failure.what, c.what);
  EXPECT_EQ(failure.exit_code, c.exit_code);
}

const comm::Suspicion kNobody{-1, comm::Ground::kNone, "all wait in the same collective"};

INSTANTIATE_TEST_SUITE_P(
    Cases, BlameTest,
    testing::Values(
        BlameCase{"the_killed_one_among_victims_that_exited_before_it_was_reaped",
                  {{Victim(4, "peer lost"), Ended(SIGKILL, 5), Running()}, {}, {}, kNobody},
                  1,
                  "rank 1 (pid 70) was killed by SIGKILL before its first collective",
                  3},
        BlameCase{"the_first_of_two_exits",
                  {{Ended(Exited(5), 9), Ended(Exited(4), 8)}, {}, {}, kNobody},
                  1,
                  "rank 1 (pid 70) exited with status 4 before its first collective",
                  4},
        BlameCase{"not_those_that_mpirun_terminated_meanwhile",
                  {{Ended(SIGTERM, 3), Ended(SIGSEGV, 6)}, {}, Exited(1), kNobody},
                  1,
                  "rank 1 (pid 70) was killed by SIGSEGV before its first collective",
                  3},
        BlameCase{"the_first_terminated_where_nothing_else_happened",
                  {{Ended(SIGTERM, 7), Ended(SIGTERM, 6)}, {}, Exited(128 + SIGTERM), kNobody},
                  1,
                  "rank 1 (pid 70) was killed by SIGTERM before its first collective",
                  3},
        BlameCase{"mpirun_when_it_was_killed",
                  {{Vanished(5), Vanished(4)}, {}, SIGKILL, kNobody},
                  -1,
                  "mpirun was killed by SIGKILL",
                  3},
        BlameCase{"mpirun_when_it_ended_and_took_several_ranks_along",
                  {{Vanished(5), Vanished(4)}, {}, Exited(1), kNobody},
                  -1,
                  "mpirun exited with status 1 before its ranks ended",
                  3},
        BlameCase{"mpirun_when_it_was_told_to_end_and_terminated_its_ranks",
                  {{Ended(SIGTERM, 7), Vanished(4)}, {}, Exited(1), kNobody},
                  -1,
                  "mpirun exited with status 1 before its ranks ended",
                  3},
        BlameCase{"mpirun_when_it_gave_up_before_there_were_ranks",
                  {{RankEvidence{}, RankEvidence{}}, {}, Exited(213), kNobody},
                  -1,
                  "mpirun exited with status 213 before its ranks ended",
                  3},
        BlameCase{"a_rank_that_lost_its_parent_too",
                  {{Running(), Vanished(300)}, {}, {}, kNobody},
                  1,
                  "rank 1 (pid 70) died before its first collective; how is not known, its parent "
                  "process is lost too",
                  3},
        BlameCase{"a_rank_that_lost_its_parent_before_those_that_mpirun_terminated",
                  {{Ended(SIGTERM, 9), Vanished(300)}, {}, Exited(128 + SIGKILL), kNobody},
                  1,
                  "rank 1 (pid 70) died before its first collective; how is not known, its parent "
                  "process is lost too",
                  3},
        BlameCase{"whom_a_peer_accused",
                  {{Victim(4, "timeout"), Running()},
                   comm::Verdict{1, 0, "its process 70 is stopped"},
                   {},
                   kNobody},
                  1,
                  "rank 1 (pid 70) holds up the others before its first collective: its process 70 "
                  "is stopped",
                  3},
        BlameCase{"the_accused_with_its_true_end",
                  {{Victim(4, "peer lost"), Ended(SIGKILL, 5)},
                   comm::Verdict{1, 0, "connection closed"},
                   {},
                   kNobody},
                  1,
                  "rank 1 (pid 70) was killed by SIGKILL before its first collective",
                  3},
        BlameCase{"who_accused_itself",
                  {{Ended(Exited(3), 5, RankState::kFailed), Running()},
                   comm::Verdict{0, 0, "disk full"},
                   {},
                   kNobody},
                  0,
                  "rank 0 (pid 70) failed: disk full",
                  3},
        BlameCase{"bad_input_in_its_own_words",
                  {{Ended(Exited(2), 5, RankState::kFailed), Running()},
                   comm::Verdict{0, 0, "a.csv:3: 4 fields, 5 expected"},
                   {},
                   kNobody},
                  0,
                  "a.csv:3: 4 fields, 5 expected",
                  2},
        BlameCase{"the_suspect_where_only_victims_speak",
                  {{Victim(4, "timeout"), Running()},
                   {},
                   {},
                   {1, comm::Ground::kBehind, "it is still at its own work"}},
                  1,
                  "rank 1 (pid 70) holds up the others: it is still at its own work",
                  3},
        BlameCase{
            "nobody_where_nothing_decides",
            {{Victim(4, "timeout in allreduce"), Running()}, {}, {}, kNobody},
            -1,
            "the job failed and no rank can be named: all wait in the same collective; rank 0 "
            "(pid 70) says: timeout in allreduce",
            3}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(BlameTest, FinishedRanksAreNoFailure) {
  RankEvidence unseen = Vanished(5);
  unseen.status.state = RankState::kFinished;
  const Evidence evidence{{Ended(0, 3), unseen}, {}, Exited(0), kNobody};
  EXPECT_FALSE(HasFailed(evidence));
  EXPECT_TRUE(HasFinished(evidence));
  EXPECT_FALSE(HasFailed({{Running(), Ended(0, 3)}, {}, {}, kNobody}));
}

TEST(BlameTest, OnlyTerminatedAndVanishedRanksHangOnMpirun) {
  EXPECT_TRUE(HangsOnMpirun({{Ended(SIGTERM, 3), Running()}, {}, {}, kNobody}));
  EXPECT_TRUE(HangsOnMpirun({{Vanished(3), Running()}, {}, {}, kNobody}));
  EXPECT_FALSE(HangsOnMpirun({{Ended(SIGTERM, 3), Ended(SIGKILL, 4)}, {}, {}, kNobody}));
  EXPECT_FALSE(HangsOnMpirun({{Victim(3, "peer lost"), Running()}, {}, {}, kNobody}));
}

TEST(BlameTest, WhereaboutsSayTheStepAndTheCollective) {
  comm::RankStatus status;
  EXPECT_EQ(Whereabouts(status), "");
  status.state = RankState::kStarting;
  EXPECT_EQ(Whereabouts(status), "while starting");
  status.step = 119;
  status.entered = 241;
  status.exited = 240;
  status.operation = "allreduce";
  EXPECT_EQ(Whereabouts(status), "at step 118, inside collective 240 (allreduce)");
  status.exited = 241;
  EXPECT_EQ(Whereabouts(status), "at step 118, after collective 240 (allreduce)");
}

class FreezeWatchTest : public testing::Test {
 protected:
  static constexpr int kRanks = 3;
  void SetUp() override {
    auto board = comm::Board::Create(folder_.path() + "/board", kRanks);
    ASSERT_TRUE(board);
    board_ = std::make_unique<comm::Board>(*std::move(board));
    for (int rank = 0; rank < kRanks; ++rank) {
      board_->Join(rank, kFirstPid + rank);
      SetProcess(rank, 'S');
    }
    watch_ = std::make_unique<FreezeWatch>(*board_, seconds(5), folder_.path());
  }
  void SetProcess(int rank, char state) {
    // Start time 0: what Join() notes for a process that the real /proc does not have.
    folder_.Write("/" + std::to_string(kFirstPid + rank) + "/stat",
                  std::to_string(kFirstPid + rank) + " (rank) " + state +
                      " 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0 0 0\n");
  }
  /// Ten looks a second for `time`; all ranks but `silent` beat. Returns what the last look gave.
  std::vector<FreezeWatch::Frozen> Pass(milliseconds time, int silent = -1) {
    std::vector<FreezeWatch::Frozen> frozen;
    for (milliseconds passed{}; passed < time; passed += milliseconds(100)) {
      now_ += milliseconds(100);
      for (int rank = 0; rank < kRanks; ++rank) {
        if (rank != silent) board_->Beat(rank, now_);
      }
      frozen = watch_->Look(now_);
    }
    return frozen;
  }

  static constexpr int kFirstPid = 1 << 30;  // above every real pid
  TestFolder folder_;
  std::unique_ptr<comm::Board> board_;
  std::unique_ptr<FreezeWatch> watch_;
  std::chrono::nanoseconds now_ = seconds(100);
};

TEST_F(FreezeWatchTest, AStoppedProcessIsFrozenAfterTheLimit) {
  EXPECT_TRUE(Pass(seconds(20)).empty());
  SetProcess(1, 'T');
  EXPECT_TRUE(Pass(milliseconds(4900), 1).empty());
  const auto frozen = Pass(milliseconds(200), 1);
  ASSERT_EQ(frozen.size(), 1U);
  EXPECT_EQ(frozen[0].rank, 1);
  EXPECT_EQ(frozen[0].why, "its process has been stopped for 5.1 s (SIGSTOP, or a debugger)");
}

TEST_F(FreezeWatchTest, AProcessThatGoesOnStartsAnew) {
  Pass(seconds(1));
  SetProcess(1, 'T');
  EXPECT_TRUE(Pass(seconds(4), 1).empty());
  SetProcess(1, 'R');
  EXPECT_TRUE(Pass(milliseconds(100)).empty());
  SetProcess(1, 't');
  EXPECT_TRUE(Pass(seconds(4), 1).empty());
}

TEST_F(FreezeWatchTest, AHeartThatStopsIsFrozenOnlyWhileOthersBeat) {
  Pass(seconds(1));
  EXPECT_TRUE(Pass(milliseconds(4900), 2).empty());
  const auto frozen = Pass(milliseconds(300), 2);
  ASSERT_EQ(frozen.size(), 1U);
  EXPECT_EQ(frozen[0].rank, 2);
  for (int i = 0; i < 100; ++i) {
    now_ += milliseconds(100);
    const auto seen = watch_->Look(now_);
    EXPECT_TRUE(i == 0 || seen.empty()) << "all are silent: a slow machine";
  }
}

TEST_F(FreezeWatchTest, TimeThatTheWatcherSleptThroughDoesNotCount) {
  Pass(seconds(1));
  SetProcess(1, 'T');
  Pass(milliseconds(100), 1);
  now_ += seconds(3600);
  EXPECT_TRUE(watch_->Look(now_).empty());
}

TEST_F(FreezeWatchTest, ARankThatSaidItsLastWordNeedNoHeartbeat) {
  Pass(seconds(1));
  board_->SetState(2, RankState::kFinished);
  EXPECT_TRUE(Pass(seconds(20), 2).empty());
}

}  // namespace
}  // namespace ringward::launch
