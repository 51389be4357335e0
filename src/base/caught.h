#pragma once

#include "base/result.h"

namespace ringward {

/// What the exception being handled means to a user, always kResource: "out of memory", "cannot
/// start a thread: ..." or "unexpected failure: ...". Call it in a catch block.
Error CaughtError();

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

}  // namespace ringward
