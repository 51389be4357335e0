#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "telemetry/guest/segment.h"

namespace ringward::telemetry {

/// A segment that stands in a folder, as its name says; its contents are not looked at.
struct SegmentEntry {
  std::string path;
  std::string job;  ///< as in the file's name: SegmentInfo has it in full
  std::int32_t rank = 0;
  std::int32_t pid = 0;
  std::uint64_t start_time = 0;
};

/// Segments in `folder`, by job, rank, pid and start time. Other files are passed over; a folder
/// that cannot be read has none. Any thread.
std::vector<SegmentEntry> ListSegments(const std::string& folder = kSegmentFolder);

/// Removes the segments that processes of the caller's user left behind when they died; returns how
/// many. Read them first. Those of living processes, of other users and of other pid namespaces
/// stay, and so does whatever leaves a doubt. Any thread.
int RemoveDeadSegments(const std::string& folder = kSegmentFolder);

}  // namespace ringward::telemetry
