#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/result.h"
#include "detect/detector.h"
#include "ingest/step_csv/step_csv.h"
#include "replay/recorded.h"

namespace ringward::cli {

/// The files that a job writes by itself, as options of the subcommands that read them.
struct JobFileOptions {
  std::string timeline;           ///< Horovod's; empty: none
  std::vector<std::string> logs;  ///< files and globs
  std::int32_t world = 0;         ///< 0: as many ranks as the files tell

  bool any() const { return !timeline.empty() || !logs.empty(); }
  /// What the job is called after its files: "train" of "logs/train.json". REQUIRES: any().
  std::string Name() const;
};

/// Binds --timeline, --log and --world under a heading of their own.
void AddJobFileOptions(OptionTable& table, JobFileOptions& options);

/// Runs files of a job that has ended through the watching path. Adds what became of each to
/// `inputs`. Errors: those of reading, and kInvalidInput where no rank is found in them.
Result<replay::Replayed> ReplayJobFiles(const JobFileOptions& options,
                                        const detect::DetectOptions& rules,
                                        std::vector<ingest::InputReport>& inputs);

}  // namespace ringward::cli
