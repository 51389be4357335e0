#pragma once

#include "ringward/cli/subcommand.h"

namespace ringward::cli {

/// Every subcommand of the program, in the order of help.
Registry AllSubcommands();

}  // namespace ringward::cli
