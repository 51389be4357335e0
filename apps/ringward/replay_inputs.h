#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "replay/fault.h"

namespace ringward::cli {

/// What a command line of paths comes to.
struct ReplayInputs {
  std::vector<std::string> files;
  bool recordings = false;  ///< each file is a run of its own; else all are the tables of one run
};

/// Folders become the recordings (*.rwrec) below them, or the CSV files where there are none, in
/// the order of their names. Errors: kInvalidInput (nothing there, tables and recordings mixed).
Result<ReplayInputs> FindReplayInputs(const std::vector<std::string>& paths);

/// The faults planted in a recording, from the plan beside it (FILE.plan.toml); nothing where there
/// is none. Errors are those of the plan.
Result<std::optional<std::vector<replay::Fault>>> TruthOf(const std::string& recording);

}  // namespace ringward::cli
