#pragma once

#include <cstddef>
#include <cstdint>

#include "telemetry/guest/layout.h"

namespace ringward::telemetry {

inline constexpr char kSegmentFolder[] = "/dev/shm";
inline constexpr std::size_t kSegmentPathBytes = 512;
/// Characters of a job's name that go into the name of its files; the header holds more.
inline constexpr std::size_t kJobInNameMax = 64;

/// Parts of a segment's file name, `ringward.JOB.RANK.PID.START`.
struct SegmentName {
  char job[kJobInNameMax + 1];  ///< letters, digits, '-' and '_'; other characters are made '_'
  std::int32_t rank;
  std::int32_t pid;
  std::uint64_t start_time;
};

SegmentName MakeSegmentName(const char* job, std::int32_t rank, std::int32_t pid,
                            std::uint64_t start_time);
/// Writes the file name, at most 160 characters. Returns false where `size` is too small.
bool FormatSegmentName(const SegmentName& name, char* out, std::size_t size);
/// False where `file` is no name that FormatSegmentName writes.
bool ParseSegmentName(const char* file, SegmentName& name);

/// Makes the file `path` (it must not exist), mode 0600, all its memory reserved, and maps it.
/// Returns null and sets `error` to an errno: ENOSPC for a full file system or a limit on file
/// sizes, EEXIST, EACCES and so on. Never raises a signal, now or at a later store.
char* CreateSegment(const char* path, int& error);

}  // namespace ringward::telemetry
