#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "recording/event_rules.h"
#include "recording/pack.h"
#include "recording/sqlite.h"
#include "signal/event.h"
#include "signal/metric.h"

namespace ringward::recording {

/// Reads the rows of events, each query short, so that a writer's log never waits for it.
class EventReader {
 public:
  /// `database` outlives it.
  static Result<EventReader> Make(Database& database);
  Result<std::optional<signal::Event>> Next();
  Status Seek(std::uint64_t number);
  const signal::MetricTable& metrics() const { return metrics_; }

 private:
  Result<bool> ReadRow();
  Status Decode(Row& row, signal::Event& event);
  Status ReadProgress(Row& row, const signal::Event& first);
  Status ReadJob(Row& row, signal::Event& event);
  Status ReadFrame(Row& row, signal::Event& event);
  Result<signal::Column> ReadColumn();
  Result<signal::MetricId> MetricOf(std::int64_t file_id);
  Result<std::optional<std::uint64_t>> NumberOf(Statement& statement, std::uint64_t number);
  void ReadLogLine(Row& row, signal::Event& event);
  void ReadRanks(Row& row, signal::Event& event, bool lost);

  Database* database_ = nullptr;
  Unpacker unpacker_;
  EventRules rules_;
  std::uint64_t next_ = 0;             ///< number of the row to ask for
  std::uint64_t from_ = 0;             ///< events before this one are passed over
  std::deque<signal::Event> pending_;  ///< read, not given out
  signal::MetricTable metrics_;
  std::unordered_map<std::int64_t, signal::MetricId> ids_;  ///< by the file's id
  Statement begin_, commit_, row_, ranks_, columns_, metric_, job_before_, row_before_;
};

}  // namespace ringward::recording
