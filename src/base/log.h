#pragma once

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace ringward {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

struct LogOptions {
  LogLevel level = LogLevel::kInfo;  ///< lines below it are dropped
  std::optional<int> rank;           ///< adds rank=N to every line
  std::string file;                  ///< also appends every line to this file; "" for none
};

/// One `key=value` of a log line. Values with blanks, quotes or control characters are quoted.
struct LogField {
  template <typename T>
  LogField(std::string_view name, const T& v) : key(name), value(fmt::format("{}", v)) {}
  std::string key;
  std::string value;
};

/// Where and what to log, from now on. Without a call: level info, standard error. Never standard
/// output. Errors: the file cannot be opened (kResource).
Status ConfigureLog(const LogOptions& options);
/// True when lines of this level are written: guards what is costly to format.
bool LogsAt(LogLevel level);

/// One line: `2026-01-05T10:00:00.123Z info rank=0 ranks started engine=mpi ranks=4`. The level is
/// coloured on a terminal. Thread-safe. Never log data rows or values of environment variables.
void Log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

inline void LogDebug(std::string_view message, std::initializer_list<LogField> fields = {}) {
  if (LogsAt(LogLevel::kDebug)) Log(LogLevel::kDebug, message, fields);
}
inline void LogInfo(std::string_view message, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kInfo, message, fields);
}
inline void LogWarning(std::string_view message, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kWarning, message, fields);
}
inline void LogError(std::string_view message, std::initializer_list<LogField> fields = {}) {
  Log(LogLevel::kError, message, fields);
}

}  // namespace ringward
