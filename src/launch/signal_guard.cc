#include "launch/signal_guard.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "base/check.h"

namespace ringward::launch {
namespace {

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};

// A signal handler has no argument of ours: its state can only be global.
std::atomic<int> g_fd{-1};
std::atomic<int> g_count{0};
std::atomic<int> g_last{0};
std::array<struct sigaction, kSignals.size()> g_before;

void OnSignal(int signal) {
  const int saved = errno;
  g_last = signal;
  ++g_count;
  const char byte = 0;
  // A full pipe is readable already.
  static_cast<void>(!write(g_fd, &byte, 1));
  errno = saved;
}

}  // namespace

SignalGuard::SignalGuard() {
  RINGWARD_CHECK(g_fd == -1);
  std::array<int, 2> ends{};
  RINGWARD_CHECK(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  read_end_ = Fd(ends[0]);
  write_end_ = Fd(ends[1]);
  g_fd = ends[1];
  g_count = 0;
  g_last = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = OnSignal;
    action.sa_flags = SA_RESTART;
    sigaction(kSignals[i], nullptr, &g_before[i]);
    if (g_before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

SignalGuard::~SignalGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &g_before[i], nullptr);
  }
  g_fd = -1;
}

int SignalGuard::count() const { return g_count; }
int SignalGuard::last_signal() const { return g_last; }

void SignalGuard::Drain() {
  std::array<char, 64> bytes{};
  while (read(read_end_.get(), bytes.data(), bytes.size()) > 0) {
  }
}

}  // namespace ringward::launch
