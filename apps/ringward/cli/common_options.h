#pragma once

#include <optional>
#include <string>

#include "base/log.h"
#include "base/options.h"
#include "base/progress.h"

namespace ringward::cli {

/// The options that every subcommand has.
struct CommonOptions {
  bool json = false;     ///< one JSON document on standard output
  bool quiet = false;    ///< no progress, only warnings and errors
  bool verbose = false;  ///< log level debug
  LogLevel log_level = LogLevel::kInfo;
  std::string log_file;

  ProgressStyle progress_style() const { return DetectProgressStyle(quiet); }
};

/// Adds them, and --config and --help, under the heading "Common options".
void AddCommonOptions(OptionTable& table, CommonOptions& common);

/// Configures logging from them; `rank` is named in every line. `table` tells whether --log-level
/// was given: it outranks --verbose and --quiet.
Status ConfigureLogFrom(const CommonOptions& common, const OptionTable& table,
                        std::optional<int> rank = {});

}  // namespace ringward::cli
