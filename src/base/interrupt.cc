#include "base/interrupt.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

#include "base/check.h"
#include "base/exit_code.h"

namespace ringward {
namespace {

std::atomic<bool> requested{false};
std::atomic<int> scopes{0};
std::atomic<int> event{-1};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler touches them");

void OnSignal(int /*signal*/) {
  if (scopes.load() > 0 && !requested.exchange(true)) {
    const int before = errno;
    const std::uint64_t one = 1;
    (void)!::write(event.load(), &one, sizeof(one));
    errno = before;
    return;
  }
  ::_exit(kExitInterrupted);
}

}  // namespace

void InstallInterruptHandling() {
  if (event.load() < 0) event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action {};
  action.sa_handler = OnSignal;  // without SA_RESTART: a blocked read returns and sees the flag
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    // A shell's background job or nohup asked for silence; that wish holds.
    if (before.sa_handler == SIG_IGN) continue;
    RINGWARD_CHECK(::sigaction(signal, &action, nullptr) == 0);
  }
}

InterruptScope::InterruptScope() { scopes.fetch_add(1); }
InterruptScope::~InterruptScope() { scopes.fetch_sub(1); }

int InterruptFd() { return event.load(); }

const std::atomic<bool>& InterruptRequested() { return requested; }

}  // namespace ringward
