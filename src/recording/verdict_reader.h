#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "recording/sqlite.h"
#include "signal/cause.h"
#include "signal/finding.h"

namespace ringward::recording {

/// Reads the rows of findings and causes, in the order of writing.
class VerdictReader {
 public:
  /// `database` outlives it.
  static Result<VerdictReader> Make(Database& database);
  /// `detector` lives as long as the reader.
  Result<std::optional<signal::Finding>> NextFinding();
  Result<std::optional<signal::Cause>> NextCause();

 private:
  Result<std::optional<signal::Finding>> ReadFinding();
  Result<std::optional<signal::Cause>> ReadCause();
  Status ReadHosts(signal::Cause& cause, std::int64_t key);
  Status ReadEvidence(signal::Cause& cause, std::int64_t key);

  const std::string* name_ = nullptr;
  std::set<std::string> detectors_;
  std::int64_t finding_key_ = 0;
  std::int64_t cause_key_ = 0;
  Statement finding_, cause_, hosts_, evidence_;
};

}  // namespace ringward::recording
