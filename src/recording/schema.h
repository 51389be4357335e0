#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "base/result.h"
#include "recording/sqlite.h"

namespace ringward::recording {

/// "RwRc": what `PRAGMA application_id` of a recording says.
inline constexpr std::int64_t kApplicationId = 0x52775263;
/// `PRAGMA user_version`. It rises when a reader of the version before would misread a file.
inline constexpr std::int64_t kFormatVersion = 1;

/// Key of a frame's columns: its event's number times this, plus the column's place in the frame.
inline constexpr std::uint64_t kColumnsMax = 4096;
/// Highest event number that has a place for its columns.
inline constexpr std::uint64_t kEventMax = (std::uint64_t{1} << 51U) - 1;
/// Times in a recording lie between 0 and this, so that adding to one never overflows.
inline constexpr std::int64_t kTimeMax = std::numeric_limits<std::int64_t>::max() / 2;
/// Highest number of ranks a recording takes: the bound of every array in it.
inline constexpr std::size_t kRanksMax = std::size_t{1} << 20U;
/// Events of kind progress in one row.
inline constexpr std::size_t kProgressMax = std::size_t{1} << 16U;

/// event_rows.kind; the numbers are the format's.
enum class EventKind : std::int64_t {
  kJobOpened = 1,
  kJobClosed,
  kFrame,
  kProgress,
  kRankEnded,
  kSourceLost,
  kSourceBack,
  kLogLine,
};

/// span_rows.state.
enum class SpanState : std::int64_t {
  kFull = 0,        ///< every event
  kSummarised = 1,  ///< every event, and one-minute figures
  kThinned = 2,     ///< one-minute figures and rare events
};

/// A table as it must stand in the file, to the letter: what a reader asks a table of another
/// making could be a trap.
struct TableText {
  const char* name;
  const char* sql;
};
std::span<const TableText> Tables();

/// Makes the tables and views and says what they are; for an empty database.
Status CreateSchema(Database& database);

/// kInvalidInput where the file is no recording, or a newer one; kCorrupt where its tables are not
/// those of its version.
Status CheckSchema(Database& database);

}  // namespace ringward::recording
