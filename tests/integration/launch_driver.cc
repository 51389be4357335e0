// Starts a job as `ringward train` does, for the tests of this folder:
//
//   launch_driver [--np N] [--engine auto|mpi|gloo|local] [--collective-timeout-ms T]
//                 [--start-timeout-ms T] [--log-dir DIR] [--folder-base DIR] [--input]
//                 [--temporaries PREFIX] [--any-program] PROGRAM [ARGUMENT...]

#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "launch/engine_choice.h"
#include "launch/job.h"

namespace ringward::launch {
namespace {

struct Flags {
  JobSpec spec;
  std::string engine = "auto";
};

int Number(const char* text) {
  int number = 0;
  std::from_chars(text, text + std::strlen(text), number);
  return number;
}

/// Reads flags up to the program; false = wrong usage.
bool Parse(int argc, char** argv, Flags& flags) {
  int i = 1;
  for (; i < argc && std::strncmp(argv[i], "--", 2) == 0; ++i) {
    const std::string flag = argv[i];
    if (flag == "--input") {
      flags.spec.forward_input = true;
      continue;
    }
    if (flag == "--any-program") {
      flags.spec.reports_to_board = false;
      continue;
    }
    if (++i == argc) return false;
    if (flag == "--np") {
      flags.spec.ranks = Number(argv[i]);
    } else if (flag == "--engine") {
      flags.engine = argv[i];
    } else if (flag == "--collective-timeout-ms") {
      flags.spec.collective_timeout = std::chrono::milliseconds(Number(argv[i]));
    } else if (flag == "--start-timeout-ms") {
      flags.spec.start_timeout = std::chrono::milliseconds(Number(argv[i]));
    } else if (flag == "--log-dir") {
      flags.spec.log_dir = argv[i];
    } else if (flag == "--temporaries") {
      flags.spec.temporaries = argv[i];
    } else if (flag == "--folder-base") {
      flags.spec.folder_base = argv[i];
    } else {
      return false;
    }
  }
  flags.spec.command.assign(argv + i, argv + argc);
  return !flags.spec.command.empty();
}

Result<JobResult> Run(Flags& flags) {
  const Capabilities can = ProbeCapabilities();
  RINGWARD_ASSIGN(flags.spec.engine, ChooseEngine(flags.engine, flags.spec.ranks, can));
  RINGWARD_ASSIGN(flags.spec.keeper, FindHelper("ringward-keeper"));
  flags.spec.mpirun = can.mpirun;
  std::fprintf(stderr, "%s\n", flags.spec.engine.why.c_str());
  return RunJob(flags.spec);
}

}  // namespace
}  // namespace ringward::launch

int main(int argc, char** argv) {
  ringward::launch::Flags flags;
  if (!ringward::launch::Parse(argc, argv, flags)) {
    std::fputs("launch_driver: wrong usage\n", stderr);
    return ringward::kExitBadInput;
  }
  const auto result = ringward::launch::Run(flags);
  if (!result) {
    std::fprintf(stderr, "ringward: %s\n", result.error().what().c_str());
    return ringward::ExitCodeOf(result.error().code());
  }
  if (!result->message.empty()) std::fprintf(stderr, "%s\n", result->message.c_str());
  return result->exit_code;
}
