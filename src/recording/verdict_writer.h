#pragma once

#include <cstdint>

#include "recording/sqlite.h"
#include "signal/cause.h"
#include "signal/finding.h"

namespace ringward::recording {

/// Writes findings and causes as rows, inside the transaction of its owner. Rows are only added:
/// what is later known of the same id is a further row.
class VerdictWriter {
 public:
  static Result<VerdictWriter> Make(Database& database);
  Status Write(const signal::Finding& finding);
  /// `now` is the newest time in the recording.
  Status Write(const signal::Cause& cause, signal::Time now);

 private:
  sqlite3* handle_ = nullptr;
  Statement finding_, cause_, host_, evidence_;
};

}  // namespace ringward::recording
