#pragma once

#include <functional>

#include "base/result.h"

namespace ringward {

/// What the exception being handled means to a user, always kResource: "out of memory", "cannot
/// start a thread: ..." or "unexpected failure: ...". Call it in a catch block.
Error CaughtError() noexcept;

/// Runs `work`, which returns a Result; an exception becomes its error. For the outermost frame of
/// a program: below it, exceptions come only from the standard library's lack of a resource.
template <typename Work>
auto Guarded(Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (...) {
    return CaughtError();
  }
}

/// The whole of a helper's main(): the exit status that `work` returns; for an error or exception,
/// one line on standard error after `program`, and its exit code. Ignores SIGXFSZ, so that a file
/// beyond `ulimit -f` is an error of write().
int RunProgram(const char* program, const std::function<Result<int>()>& work);

}  // namespace ringward
