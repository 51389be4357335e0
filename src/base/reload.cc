#include "base/reload.h"

#include <atomic>

#include "base/check.h"

namespace ringward {
namespace {

std::atomic<bool> reload_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler touches it");

void OnReload(int /*signal*/) { reload_requested = true; }

}  // namespace

ReloadScope::ReloadScope() {
  reload_requested = false;
  struct sigaction action {};
  action.sa_handler = OnReload;  // without SA_RESTART: who waits returns and looks
  sigemptyset(&action.sa_mask);
  RINGWARD_CHECK(::sigaction(SIGHUP, &action, &before_) == 0);
}

ReloadScope::~ReloadScope() { ::sigaction(SIGHUP, &before_, nullptr); }

bool ReloadScope::TakeRequest() { return reload_requested.exchange(false); }

}  // namespace ringward
