#pragma once

#include <string>

#include "ringward/cli/subcommand.h"

namespace ringward::cli {

/// "ringward 0.1.0".
std::string VersionText();
/// The grouped list of all subcommands.
std::string ProgramHelp(const Registry& registry);
/// The list of a family's subcommands ("simulate").
std::string FamilyHelp(const Registry& registry, const std::string& family);
/// Usage, options, example and exit codes of one subcommand, wrapped at `width` columns.
std::string SubcommandHelp(const BoundSubcommand& bound, std::size_t width);

}  // namespace ringward::cli
