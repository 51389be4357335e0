#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "comm/gloo/gloo_communicator.h"
#include "comm/store_server.h"

// Gloo over real processes of which one is killed or frozen: nobody may wait for longer than the
// deadline and what a busy machine adds.
namespace ringward::comm {
namespace {

using std::chrono::milliseconds;
constexpr int kWorld = 3;
constexpr int kVictim = 1;
constexpr milliseconds kTimeout{2000};
constexpr std::chrono::seconds kBound{30};
constexpr int kExitBase = 40;  // a child's exit status is this plus the code of its error

/// What a rank does after it has joined, until a call fails.
using Work = std::function<Status(Communicator&)>;

class Ranks {
 public:
  // The ranks are forked before the store starts its threads: a child of a process with threads may
  // inherit a lock that nobody will release. They learn its port from a pipe.
  explicit Ranks(const Work& work) {
    std::array<int, 2> port_pipe{};
    RINGWARD_CHECK(pipe(port_pipe.data()) == 0);
    for (int rank = 0; rank < kWorld; ++rank) {
      const pid_t pid = fork();
      if (pid == 0) Child(rank, port_pipe[0], work);
      pids_.push_back(pid);
    }
    auto store = StoreServer::Start({.job = "hurt"});
    RINGWARD_CHECK(store);
    store_ = *std::move(store);
    const std::vector<std::uint16_t> ports(kWorld, store_->port());
    const std::size_t bytes = ports.size() * sizeof ports[0];
    RINGWARD_CHECK(write(port_pipe[1], ports.data(), bytes) == static_cast<ssize_t>(bytes));
    close(port_pipe[0]);
    close(port_pipe[1]);
  }
  ~Ranks() {
    for (const pid_t pid : pids_) {
      if (pid <= 0) continue;  // reaped
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  pid_t pid(int rank) const { return pids_[static_cast<std::size_t>(rank)]; }

  /// The exit status of a rank; -1 if it ended otherwise or not at all.
  int ExitOf(int rank) {
    const auto end = std::chrono::steady_clock::now() + kBound;
    int status = 0;
    while (waitpid(pid(rank), &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > end) return -1;
      std::this_thread::sleep_for(milliseconds(5));
    }
    pids_[static_cast<std::size_t>(rank)] = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  [[noreturn]] static void Child(int rank, int port_pipe, const Work& work) {
    Status status = Ok();
    std::uint16_t port = 0;
    RINGWARD_CHECK(read(port_pipe, &port, sizeof port) == sizeof port);
    {
      auto comm = MakeGloo(
          {.rank = rank, .size = kWorld, .store_port = port, .job = "hurt", .timeout = kTimeout});
      status = comm ? Ok() : Status(comm.error());
      while (status) status = work(**comm);
    }
    _exit(kExitBase + static_cast<int>(status.error().code()));
  }

  std::unique_ptr<StoreServer> store_;
  std::vector<pid_t> pids_;
};

struct Hurt {
  const char* what;
  int signal;
  milliseconds after;  // 0 hits the rendezvous, more the collectives
  Work work;
};

Status Small(Communicator& comm) {
  std::vector<float> data(512, 1.0F);
  return comm.AllReduce(AsBuffer(data), ReduceOp::kSum);
}

Status Large(Communicator& comm) {
  std::vector<float> data(4U << 20, 1.0F);
  return comm.AllReduce(AsBuffer(data), ReduceOp::kSum);
}

Status Async(Communicator& comm) {
  std::vector<float> data(100'000, 1.0F);
  RINGWARD_ASSIGN(auto handle, comm.AllReduceAsync(AsBuffer(data), ReduceOp::kAverage));
  return handle->Wait();
}

Status Mixed(Communicator& comm) {
  std::vector<double> data(3000, 1.0);
  const std::vector<std::size_t> counts(kWorld, 1000);
  std::vector<double> part(1000);
  RINGWARD_TRY(comm.Barrier());
  RINGWARD_TRY(comm.Broadcast(AsBuffer(data), 2));
  RINGWARD_TRY(comm.ReduceScatter(AsBuffer(data), AsBuffer(part), counts, ReduceOp::kMax));
  return comm.AllGatherV(AsBuffer(part), AsBuffer(data), counts);
}

class GlooProcessTest : public testing::TestWithParam<Hurt> {};

TEST_P(GlooProcessTest, SurvivorsLearnOfItInTime) {
  Ranks ranks(GetParam().work);
  std::this_thread::sleep_for(GetParam().after);
  kill(ranks.pid(kVictim), GetParam().signal);
  for (const int rank : {0, 2}) {
    const int code = ranks.ExitOf(rank) - kExitBase;
    EXPECT_TRUE(code == static_cast<int>(Code::kUnavailable) ||
                code == static_cast<int>(Code::kTimeout))
        << "rank " << rank << " ended with " << code;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, GlooProcessTest,
                         testing::Values(Hurt{"KillAtStart", SIGKILL, milliseconds(0), Small},
                                         Hurt{"FreezeAtStart", SIGSTOP, milliseconds(0), Small},
                                         Hurt{"FreezeWhileJoining", SIGSTOP, milliseconds(15),
                                              Small},
                                         Hurt{"KillInSmall", SIGKILL, milliseconds(500), Small},
                                         Hurt{"FreezeInSmall", SIGSTOP, milliseconds(500), Small},
                                         Hurt{"KillInLarge", SIGKILL, milliseconds(700), Large},
                                         Hurt{"FreezeInLarge", SIGSTOP, milliseconds(700), Large},
                                         Hurt{"KillInAsync", SIGKILL, milliseconds(500), Async},
                                         Hurt{"FreezeInAsync", SIGSTOP, milliseconds(500), Async},
                                         Hurt{"KillInMixed", SIGKILL, milliseconds(600), Mixed},
                                         Hurt{"FreezeInMixed", SIGSTOP, milliseconds(600), Mixed}),
                         [](const auto& hurt) { return std::string(hurt.param.what); });

}  // namespace
}  // namespace ringward::comm
