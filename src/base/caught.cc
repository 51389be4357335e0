#include "base/caught.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "base/exit_code.h"
#include "base/text_value.h"

namespace ringward {

namespace {

Error Told(const std::string& prefix, const char* what) {
  constexpr std::size_t kLongest = 300;
  return {Code::kResource, prefix + Printable(what, kLongest)};
}

/// May itself run out of memory.
Error Describe() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::system_error& problem) {
    // What the constructor of std::thread throws.
    if (problem.code() == std::errc::resource_unavailable_try_again) {
      return Told("cannot start a thread: ", problem.what());
    }
    return Told("unexpected failure: ", problem.what());
  } catch (const std::exception& problem) {
    return Told("unexpected failure: ", problem.what());
  } catch (...) {
    return {Code::kResource, "unexpected failure"};
  }
}

}  // namespace

Error CaughtError() noexcept {
  try {
    return Describe();
  } catch (...) {
    return {Code::kResource, "out of memory"};
  }
}

int RunProgram(const char* program, const std::function<Result<int>()>& work) {
  std::signal(SIGXFSZ, SIG_IGN);
  const auto status = Guarded(work);
  if (status) return *status;
  std::fprintf(stderr, "%s: %s\n", program, status.error().what().c_str());
  return ExitCodeOf(status.error().code());
}

}  // namespace ringward
