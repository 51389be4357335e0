#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "recording/minute_maker.h"
#include "recording/schema.h"
#include "recording/sqlite.h"
#include "recording/writer.h"

namespace ringward::recording {

/// Knows which minutes a recording holds, and in what detail; takes detail away as the limits say.
class Retention {
 public:
  /// `database` outlives it.
  static Result<Retention> Make(Database& database, const Limits& limits);

  // Inside the transaction of the batch:
  /// Events up to number `last` were written, the first of them `first`, all received in the minute
  /// of `received` (or in the newest minute, if that is later).
  Status NoteEvents(signal::Time received, std::uint64_t first, std::uint64_t last);
  Status NoteCall(signal::Time now, std::uint64_t number);
  void NoteJob(std::uint64_t number) { jobs_.push_back(number); }
  /// Written at `at`. Detail around it stays.
  void NoteCause(const signal::Cause& cause, signal::Time at);

  /// A bounded part of what is to do, in a transaction of its own.
  Status Upkeep();
  /// The newest time in the recording.
  signal::Time now() const { return now_; }

 private:
  struct Span {
    std::int64_t minute = 0;
    std::uint64_t first_event = 0;
    std::uint64_t event_end = 0;  ///< one past the last
    std::uint64_t first_call = 0;
    std::uint64_t call_end = 0;
    SpanState state = SpanState::kFull;
  };
  struct Interval {
    signal::Time from{};
    std::optional<signal::Time> to{};  ///< nothing: not over yet
  };

  Status Load(Database& database);
  Status LoadSpans(Database& database);
  Status LoadCauses(Database& database);
  Status LoadJobs(Database& database);
  Span& Current(signal::Time time);
  Status Save(const Span& span);
  bool Protected(std::int64_t minute) const;
  Status Summarise();
  Status Thin();
  Status DropOld();
  Status Drop(const Span& span);
  Status DropEvents(const Span& span);
  Status DropVerdicts(const Span& span);
  Status Shrink();
  static Result<std::uint64_t> NumberOf(Statement& pragma);

  Limits limits_;
  MinuteMaker minutes_;
  signal::Time now_{};
  std::deque<Span> spans_;       ///< by minute; the last one is being written
  std::size_t summarised_ = 0;   ///< spans before this one have their one-minute figures
  std::int64_t thinned_to_ = 0;  ///< minutes before this one have been judged
  std::unordered_map<std::uint64_t, Interval> causes_;
  std::vector<std::uint64_t> jobs_;  ///< numbers of the JobOpened events there are
  std::uint64_t page_bytes_ = 0;
  Statement begin_, commit_, save_span_, drop_span_, thin_events_, drop_samples_, drop_calls_,
      drop_events_, drop_job_, drop_ranks_, drop_minutes_, drop_findings_, drop_hosts_,
      drop_evidence_, drop_causes_, pages_, free_pages_;
  Database* database_ = nullptr;
};

}  // namespace ringward::recording
