#pragma once

#include <span>
#include <string>

#include "ringward/cli/subcommand.h"

namespace ringward::cli {

/// Runs the subcommand that `args` (without the program's name) asks for and returns the exit code
/// (docs/cli.md). Errors become one line on standard error; no exception leaves.
int RunApp(const Registry& registry, std::span<const std::string> args, Output& out);

/// The whole of main(): makes descriptors 0 to 2 safe, ignores SIGPIPE (a reader of standard output
/// that leaves ends the process quietly, by that signal), installs the interrupt handling, and
/// calls RunApp.
int Main(const Registry& registry, int argc, char** argv);

}  // namespace ringward::cli
