#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "signal/cause.h"

namespace ringward::ingest {

/// What a line says of the end of a rank.
struct ErrorWord {
  signal::Category category = signal::Category::kProcessCrash;
  std::int32_t rank = -1;  ///< that the line names; -1: the one that prints it
  /// It is the consequence of what happened elsewhere: of no rank's doing.
  bool follows = false;
  /// All raise it alike, whoever is at fault.
  bool nobody = false;
};

/// The error that a line tells by itself; nothing for other lines.
std::optional<ErrorWord> ErrorOfLine(std::string_view text);

/// The error of a Python traceback's last line, `module.Name: text`; nothing where it is none.
std::optional<ErrorWord> ErrorOfTraceback(std::string_view text);

}  // namespace ringward::ingest
