#include "recording/event_reader.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "recording/rank_ranges.h"
#include "recording/schema.h"

namespace ringward::recording {
namespace {

/// Columns of the query for a row.
enum EventColumn {
  kNumber,
  kKind,
  kReceived,
  kStep,
  kSteps,
  kExpectedSlow,
  kClosed,
  kRank,
  kExitStatus,
  kSignal,
  kText,
  kCount,
  kData
};
/// Names of metrics a file may add; each costs memory.
constexpr std::size_t kMetricsMax = kColumnsMax;

signal::Event RankEnd(Row& row, signal::Event event) {
  event.what = signal::RankEnded{.rank = row.Int<std::int32_t>(kRank),
                                 .exit_status = row.Int<std::int32_t>(kExitStatus),
                                 .signal = row.Int<std::int32_t>(kSignal)};
  return event;
}

}  // namespace

Result<EventReader> EventReader::Make(Database& database) {
  EventReader reader;
  reader.database_ = &database;
  RINGWARD_ASSIGN(reader.begin_, database.Prepare("BEGIN"));
  RINGWARD_ASSIGN(reader.commit_, database.Prepare("COMMIT"));
  RINGWARD_ASSIGN(reader.row_,
                  database.Prepare("SELECT number, kind, received, step, steps, expected_slow, "
                                   "closed, "
                                   "rank, exit_status, signal, text, count, data "
                                   "FROM event_rows WHERE number >= ? ORDER BY number LIMIT 1"));
  RINGWARD_ASSIGN(reader.ranks_, database.Prepare("SELECT rank, host, stage, replica FROM rank_rows"
                                                  " WHERE event = ? ORDER BY rank"));
  RINGWARD_ASSIGN(reader.columns_,
                  database.Prepare("SELECT key, metric, count, data FROM sample_rows"
                                   " WHERE key >= ? AND key < ? ORDER BY key"));
  RINGWARD_ASSIGN(reader.metric_,
                  database.Prepare("SELECT metric, name FROM metric_rows WHERE metric = ?"));
  RINGWARD_ASSIGN(reader.job_before_, database.Prepare("SELECT max(number) FROM event_rows"
                                                       " WHERE number < ? AND kind = 1"));
  RINGWARD_ASSIGN(reader.row_before_, database.Prepare("SELECT max(number) FROM event_rows"
                                                       " WHERE number < ?"));
  return reader;
}

Result<std::optional<signal::Event>> EventReader::Next() {
  while (pending_.empty()) {
    // One view of the file for the row and what belongs to it.
    RINGWARD_TRY(begin_.Run());
    auto any = ReadRow();
    for (const Statement* used : {&row_, &ranks_, &columns_, &metric_}) used->Reset();
    RINGWARD_TRY(commit_.Run());
    if (!any) return std::move(any).error();
    if (!*any) return std::optional<signal::Event>();
    // A row of progress may begin before the event that was asked for.
    while (!pending_.empty() && pending_.front().number < from_) pending_.pop_front();
  }
  std::optional<signal::Event> event(std::move(pending_.front()));
  pending_.pop_front();
  return event;
}

Result<bool> EventReader::ReadRow() {
  row_.Start(next_);
  RINGWARD_ASSIGN(const bool there, row_.Step());
  if (!there) return false;
  Row row(row_, database_->name(), "event_rows");
  signal::Event event;
  event.number = row.Int<std::uint64_t>(kNumber, next_, kEventMax);
  event.received = signal::Time(row.Int<std::int64_t>(kReceived));
  RINGWARD_TRY(row.Verdict());
  if (Status decoded = Decode(row, event); !decoded) {
    pending_.clear();
    return std::move(decoded).error();
  }
  if (pending_.empty()) pending_.push_back(std::move(event));
  EventRules rules = rules_;
  for (const signal::Event& each : pending_) {
    if (const char* why = rules.Check(each)) row.Refuse(std::string(why));
  }
  if (!row.sound()) {
    pending_.clear();
    RINGWARD_TRY(row.Verdict());
  }
  rules_ = rules;
  next_ = pending_.back().number + 1;
  return true;
}

Status EventReader::Decode(Row& row, signal::Event& event) {
  switch (static_cast<EventKind>(row.Int<std::int64_t>(kKind))) {
    case EventKind::kJobOpened:
      return ReadJob(row, event);
    case EventKind::kJobClosed:
      event.what = signal::JobClosed();
      return row.Verdict();
    case EventKind::kFrame:
      return ReadFrame(row, event);
    case EventKind::kProgress:
      return ReadProgress(row, event);
    case EventKind::kRankEnded:
      event = RankEnd(row, std::move(event));
      return row.Verdict();
    case EventKind::kSourceLost:
      ReadRanks(row, event, true);
      return row.Verdict();
    case EventKind::kSourceBack:
      ReadRanks(row, event, false);
      return row.Verdict();
    case EventKind::kLogLine:
      ReadLogLine(row, event);
      return row.Verdict();
  }
  row.Refuse(kKind, "is not one of this version");
  return row.Verdict();
}

Status EventReader::ReadProgress(Row& row, const signal::Event& first) {
  const auto count = row.Int<std::size_t>(kCount, 1, kProgressMax);
  const auto blob = row.Blob(kData);
  RINGWARD_TRY(row.Verdict());
  std::vector<signal::Event> events(count);
  if (!unpacker_.Unpack(blob, first.received, events)) {
    row.Refuse(kData, "is damaged");
    return row.Verdict();
  }
  for (std::size_t i = 0; i < count; ++i) events[i].number = first.number + i;
  pending_.assign(std::make_move_iterator(events.begin()), std::make_move_iterator(events.end()));
  return Ok();
}

Status EventReader::ReadJob(Row& row, signal::Event& event) {
  signal::JobOpened job;
  job.job = row.Text(kText);
  RINGWARD_TRY(row.Verdict());
  std::vector<signal::RankPlace> places;
  ranks_.Start(event.number);
  while (true) {
    RINGWARD_ASSIGN(const bool there, ranks_.Step());
    if (!there) break;
    Row rank(ranks_, database_->name(), "rank_rows");
    if (rank.Int<std::size_t>(0, 0, kRanksMax - 1) != places.size()) {
      rank.Refuse("ranks are not 0, 1, 2 and so on");
    }
    places.push_back({.host = std::string(rank.Text(1)),
                      .stage = rank.Int<std::int32_t>(2),
                      .replica = rank.Int<std::int32_t>(3)});
    RINGWARD_TRY(rank.Verdict());
  }
  job.topology = signal::Topology(std::move(places));
  event.what = std::move(job);
  return Ok();
}

Status EventReader::ReadFrame(Row& row, signal::Event& event) {
  signal::Frame frame;
  frame.step = row.Int<std::int64_t>(kStep);
  frame.steps = row.Int<std::int32_t>(kSteps, 1);
  frame.received = signal::Time(row.Int<std::int64_t>(kClosed));
  frame.expected_slow = row.Int<int>(kExpectedSlow, 0, 1) == 1;
  RINGWARD_TRY(row.Verdict());
  columns_.Start(event.number * kColumnsMax, (event.number + 1) * kColumnsMax);
  while (true) {
    RINGWARD_ASSIGN(const bool there, columns_.Step());
    if (!there) break;
    RINGWARD_ASSIGN(signal::Column column, ReadColumn());
    frame.columns.push_back(std::move(column));
  }
  event.what = std::move(frame);
  return Ok();
}

Result<signal::Column> EventReader::ReadColumn() {
  Row row(columns_, database_->name(), "sample_rows");
  const auto file_id = row.Int<std::int64_t>(1);
  const auto count = row.Int<std::size_t>(2, 0, kRanksMax);
  const auto blob = row.Blob(3);
  if (count != rules_.world()) row.Refuse(2, "is not the number of ranks");
  RINGWARD_TRY(row.Verdict());
  signal::Column column;
  RINGWARD_ASSIGN(column.metric, MetricOf(file_id));
  column.values.resize(count);
  if (!unpacker_.Unpack(blob, column.values)) row.Refuse(3, "is damaged");
  RINGWARD_TRY(row.Verdict());
  return column;
}

// The file may number metrics in another way than this program does.
Result<signal::MetricId> EventReader::MetricOf(std::int64_t file_id) {
  const auto known = ids_.find(file_id);
  if (known != ids_.end()) return known->second;
  metric_.Start(file_id);
  RINGWARD_ASSIGN(const bool there, metric_.Step());
  if (!there || metrics_.size() >= kMetricsMax) {
    return Error(Code::kCorrupt, database_->name() + ": metric " + std::to_string(file_id) +
                                     " of sample_rows is not in metric_rows");
  }
  Row row(metric_, database_->name(), "metric_rows");
  const auto name = row.Text(1);
  RINGWARD_TRY(row.Verdict());
  const signal::MetricId id = metrics_.Add(name);
  ids_.emplace(file_id, id);
  return id;
}

void EventReader::ReadRanks(Row& row, signal::Event& event, bool lost) {
  std::vector<std::int32_t> ranks;
  if (!RanksOf(row.Text(kText), ranks)) row.Refuse(kText, "holds no ranges of ranks");
  if (lost) {
    event.what = signal::SourceLost{std::move(ranks)};
  } else {
    event.what = signal::SourceBack{std::move(ranks)};
  }
}

void EventReader::ReadLogLine(Row& row, signal::Event& event) {
  signal::LogLine line;
  line.category =
      static_cast<signal::Category>(row.Int<std::uint8_t>(kExitStatus, 0, signal::kCategories - 1));
  line.kind = static_cast<signal::LogLine::Kind>(
      row.Int<std::uint8_t>(kSignal, 0, signal::LogLine::kKinds - 1));
  line.where.line = row.Int<std::uint64_t>(kCount);
  line.seconds = signal::Seconds(signal::Time(row.Int<std::int64_t>(kClosed)));
  const std::string text(row.Text(kText));
  const std::size_t ranks = text.find('\n');
  const std::size_t file = ranks == std::string::npos ? ranks : text.find('\n', ranks + 1);
  if (file == std::string::npos || !RanksOf(std::string_view(text).substr(0, ranks), line.ranks)) {
    row.Refuse(kText, "holds no line of a log");
  } else {
    line.where.file = text.substr(ranks + 1, file - ranks - 1);
    line.where.text = text.substr(file + 1);
  }
  event.what = std::move(line);
}

Status EventReader::Seek(std::uint64_t number) {
  number = std::min(number, kEventMax);
  pending_.clear();
  rules_ = EventRules();
  from_ = 0;
  std::uint64_t next = 0;
  RINGWARD_ASSIGN(const auto job, NumberOf(job_before_, number));
  if (job) {
    next_ = *job;
    next = *job + 1;
    RINGWARD_TRY(Next());
  }
  RINGWARD_ASSIGN(const auto before, NumberOf(row_before_, number));
  next_ = std::max(next, before.value_or(0));
  from_ = number;
  return Ok();
}

Result<std::optional<std::uint64_t>> EventReader::NumberOf(Statement& statement,
                                                           std::uint64_t number) {
  statement.Start(number);
  RINGWARD_TRY(statement.Step());
  std::optional<std::uint64_t> found;
  if (sqlite3_column_type(statement.get(), 0) == SQLITE_INTEGER) {
    found = static_cast<std::uint64_t>(sqlite3_column_int64(statement.get(), 0));
  }
  statement.Reset();
  if (found && *found > kEventMax) {
    return Error(Code::kCorrupt, database_->name() + ": event_rows has a number out of range");
  }
  return found;
}

}  // namespace ringward::recording
