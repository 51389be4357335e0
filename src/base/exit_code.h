#pragma once

#include "base/result.h"

namespace ringward {

/// Exit codes of every subcommand; scripts depend on them.
enum ExitCode : int {
  kExitFine = 0,
  kExitFound = 1,        ///< ran, and found what it looks for (an incident, a failed check)
  kExitBadInput = 2,     ///< bad usage or bad input, one line on stderr says which
  kExitCouldNotRun = 3,  ///< resource, peer or engine
  kExitInterrupted = 130,
};

/// The exit code that tells a script what it can do about `code`.
constexpr ExitCode ExitCodeOf(Code code) {
  switch (code) {
    case Code::kInvalidInput:
    case Code::kCorrupt:
      return kExitBadInput;
    case Code::kInterrupted:
      return kExitInterrupted;
    case Code::kUnavailable:
    case Code::kTimeout:
    case Code::kAborted:
    case Code::kResource:
      return kExitCouldNotRun;
  }
  return kExitCouldNotRun;
}

}  // namespace ringward
