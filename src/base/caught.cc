#include "base/caught.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "base/exit_code.h"
#include "base/text_value.h"

namespace ringward {

Error CaughtError() noexcept {
  constexpr std::size_t kLongest = 300;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {Code::kResource, "out of memory"};
  } catch (const std::system_error& problem) {
    // Thrown by the constructor of std::thread, and by nothing else that we use.
    if (problem.code() == std::errc::resource_unavailable_try_again) {
      return {Code::kResource, std::string("cannot start a thread: ") + problem.what()};
    }
    return {Code::kResource, "unexpected failure: " + Printable(problem.what(), kLongest)};
  } catch (const std::exception& problem) {
    return {Code::kResource, "unexpected failure: " + Printable(problem.what(), kLongest)};
  } catch (...) {
    return {Code::kResource, "unexpected failure"};
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
