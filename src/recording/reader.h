#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "recording/record.h"
#include "signal/metric.h"

namespace ringward::recording {

/// In what detail a minute was kept.
struct Minute {
  std::int64_t minute = 0;        ///< since the Unix epoch
  std::uint64_t first_event = 0;  ///< of its events, some may be gone
  std::uint64_t event_end = 0;    ///< one past the last
  std::uint64_t first_call = 0;
  std::uint64_t call_end = 0;
  bool full = true;  ///< all its frames, progress and calls are there
};

/// Reads a recording, also one that is being written. The file may have been made by anybody: what
/// is wrong with it is an error, kCorrupt and one line that names file and row, or kInvalidInput
/// where it is no recording or a newer one. Holds one event, or one row of progress, at a time.
/// Not safe for concurrent use.
class Reader {
 public:
  /// Opens read-only. A closed recording can also be read where nothing may be written, and on
  /// network file systems; no writer may go on with it meanwhile.
  static Result<Reader> Open(const std::string& path);
  /// The bytes of a closed recording; `name` is the file in messages.
  static Result<Reader> FromMemory(std::string bytes, const std::string& name);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  /// Of all frames read so far; ids are those of the frames, not of the file.
  const signal::MetricTable& metrics() const;

  // Each gives what follows what it gave before, in the order of writing; nothing at the end. While
  // the file is being written the end moves on: ask again. After an error the same row is met
  // again.
  Result<std::optional<signal::Event>> NextEvent();
  Result<std::optional<Call>> NextCall();
  /// `detector` lives as long as the reader.
  Result<std::optional<signal::Finding>> NextFinding();
  Result<std::optional<signal::Cause>> NextCause();

  /// The next event is the first with at least this number. The events before it are passed over,
  /// but the job that it belongs to is known.
  Status SeekEvent(std::uint64_t number);
  /// The same for calls. The first call gets the rules that were in force, as if it changed them.
  Status SeekCall(std::uint64_t number);

  /// What was kept, by minute.
  Result<std::vector<Minute>> Minutes();

 private:
  struct Parts;
  explicit Reader(std::unique_ptr<Parts> parts);
  static Result<Reader> Begin(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace ringward::recording
