#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "recording/record.h"
#include "signal/metric.h"

namespace ringward::recording {

/// How much a recording keeps. Ages are counted back from the newest time in it.
struct Limits {
  /// Frames, progress and calls are kept this long; then one-minute figures stand for them.
  std::chrono::seconds full = std::chrono::hours(2);
  /// They are kept for good from this long before a cause began to this long after its last word.
  std::chrono::seconds around = std::chrono::minutes(10);
  /// Everything older is dropped; 0: never.
  std::chrono::seconds age{0};
  /// The file stops growing there (its -wal beside it takes up to 16 MiB more): what is oldest is
  /// dropped, but never the newest two minutes. 0: no limit.
  std::uint64_t bytes = 0;
};

/// What was not written.
struct Dropped {
  std::uint64_t events = 0;
  std::uint64_t calls = 0;
  std::uint64_t findings = 0;
  std::uint64_t causes = 0;
};

/// Appends to the file of a run (docs/formats/recording.md). What Append() said Ok to is in the
/// file whatever happens to this process; a machine that loses power may lose the last batches, and
/// nothing before them. One writer a file. Not safe for concurrent use; readers may be at work.
class Writer {
 public:
  /// Makes `path`, or goes on after the last event and call that it holds. kInvalidInput where the
  /// file is something else, of a newer version, or on a network file system.
  static Result<Writer> Open(const std::string& path, const Limits& limits = {});
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  /// Like Close(), without its answer.
  ~Writer();

  /// Writes the batch in one transaction, all or nothing, and does a bounded part of the upkeep
  /// that the limits ask for. `metrics` names the metrics of its frames and only ever grows.
  /// kInvalidInput: the batch is not sound (numbers that do not rise, ranks beyond the world); it
  /// is dropped, the next may be written. Any other error (kResource: the disk is full): writing
  /// has stopped, with this one error; from then on batches are dropped, counted, and answered Ok.
  Status Append(const Batch& batch, const signal::MetricTable& metrics);

  bool stopped() const;
  const Dropped& dropped() const;
  /// The number that follows the last event (call) in the file.
  std::uint64_t next_event() const;
  std::uint64_t next_call() const;

  /// Moves everything into the one file and closes it. Nothing may be called afterwards.
  Status Close();

 private:
  struct Parts;
  explicit Writer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace ringward::recording
