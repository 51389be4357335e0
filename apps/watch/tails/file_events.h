#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/horovod_timeline/horovod_timeline.h"
#include "ingest/rank_log/rank_log.h"
#include "signal/event.h"

namespace ringward::watch {

/// Files of one job that has ended.
struct JobFiles {
  std::string timeline;             ///< Horovod's; empty: none
  std::vector<std::string> logs{};  ///< of ranks, tagged or one a rank
  std::size_t world = 0;            ///< ranks; 0: as many as the files tell
};

/// What became of their contents.
struct JobFilesRead {
  ingest::TimelineCounts timeline;
  bool lacks_ticks = false;
  std::vector<ingest::LogCounts> logs;  ///< in the order of the files
};

/// What `ringward watch` would make of the files, as events in the timeline's own time; what logs
/// say comes last, as they need not tell the time. No events where the files tell of no rank.
/// Errors: those of reading.
Result<std::vector<signal::Event>> EventsOfFiles(const JobFiles& files, JobFilesRead& read);

}  // namespace ringward::watch
