#include "ringward/cli/common_options.h"

namespace ringward::cli {

void AddCommonOptions(OptionTable& table, CommonOptions& common) {
  table.Group("Common options");
  table.Add("json", &common.json, "print one JSON document on standard output")
      .Scope(OptionScope::kLocal);
  table.Add("quiet", &common.quiet, "no progress; log warnings and errors only")
      .Short("q")
      .Scope(OptionScope::kRun);
  table.Add("verbose", &common.verbose, "log what is being done (level debug)")
      .Short("v")
      .Scope(OptionScope::kRun);
  table
      .AddChoice("log-level", &common.log_level,
                 {{"debug", LogLevel::kDebug},
                  {"info", LogLevel::kInfo},
                  {"warning", LogLevel::kWarning},
                  {"error", LogLevel::kError},
                  {"off", LogLevel::kOff}},
                 "log lines from this level up, on standard error")
      .Scope(OptionScope::kRun);
  table
      .Add("log-file", &common.log_file, {.what = "a file", .allow_empty = true},
           "also append the log to this file")
      .Complete(Completion::kFile)
      .Scope(OptionScope::kLocal);
  table.AddBuiltIns();
}

Status ConfigureLogFrom(const CommonOptions& common, const OptionTable& table,
                        std::optional<int> rank) {
  LogOptions log{.level = common.log_level, .rank = rank, .file = common.log_file};
  if (!table.WasSet("log-level")) {
    if (common.quiet) log.level = LogLevel::kWarning;
    if (common.verbose) log.level = LogLevel::kDebug;
  }
  return ConfigureLog(log);
}

}  // namespace ringward::cli
