#pragma once

#include <string>

#include "ringward/cli/subcommand.h"

namespace ringward::cli {

/// A script for `source <(ringward completion bash)`: subcommands, nested ones, flags, the names of
/// choices, files and folders. Generated from the same tables that parse the command line.
std::string BashCompletion(const Registry& registry);

/// The same for zsh (5.8 or newer), as an autoloadable #compdef function or to be sourced.
std::string ZshCompletion(const Registry& registry);

/// The part that both scripts share: branches of `case "$name|$word"` that collect the subcommand's
/// words in `name`.
std::string NameCases(const Registry& registry);

}  // namespace ringward::cli
