#include "recording/event_writer.h"

#include <algorithm>
#include <type_traits>

#include "recording/rank_ranges.h"
#include "recording/schema.h"

namespace ringward::recording {
namespace {

std::int64_t Nanoseconds(signal::Time time) { return time.count(); }

/// How many events at the front may share a row: Progress, numbers without a gap.
std::size_t ProgressRun(std::span<const signal::Event> events) {
  std::size_t run = 0;
  while (run < std::min(events.size(), kProgressMax) &&
         std::holds_alternative<signal::Progress>(events[run].what) &&
         events[run].number == events[0].number + run) {
    ++run;
  }
  return run;
}

}  // namespace

Result<EventWriter> EventWriter::Make(Database& database) {
  EventWriter writer;
  RINGWARD_ASSIGN(
      writer.plain_,
      database.Prepare("INSERT INTO event_rows(number, kind, received, text) VALUES(?,?,?,?)"));
  RINGWARD_ASSIGN(writer.rank_, database.Prepare("INSERT INTO rank_rows VALUES(?,?,?,?,?)"));
  RINGWARD_ASSIGN(
      writer.frame_,
      database.Prepare(
          "INSERT INTO event_rows(number, kind, received, step, steps, expected_slow, closed)"
          " VALUES(?,?,?,?,?,?,?)"));
  RINGWARD_ASSIGN(writer.sample_, database.Prepare("INSERT INTO sample_rows VALUES(?,?,?,?)"));
  RINGWARD_ASSIGN(writer.progress_,
                  database.Prepare("INSERT INTO event_rows(number, kind, received, count, data)"
                                   " VALUES(?,?,?,?,?)"));
  RINGWARD_ASSIGN(
      writer.ended_,
      database.Prepare("INSERT INTO event_rows(number, kind, received, rank, exit_status, signal)"
                       " VALUES(?,?,?,?,?,?)"));
  RINGWARD_ASSIGN(
      writer.log_line_,
      database.Prepare("INSERT INTO event_rows(number, kind, received, exit_status, signal, text, "
                       "count, closed) VALUES(?,?,?,?,?,?,?,?)"));
  RINGWARD_ASSIGN(writer.metric_, database.Prepare("INSERT INTO metric_rows VALUES(?,?)"));
  RINGWARD_ASSIGN(writer.names_, database.Prepare("SELECT metric, name FROM metric_rows"));
  return writer;
}

Status EventWriter::Write(std::span<const signal::Event> events,
                          const signal::MetricTable& metrics) {
  while (!events.empty()) {
    const std::size_t run = ProgressRun(events);
    if (run > 0) {
      RINGWARD_TRY(WriteProgress(events.first(run)));
    } else {
      RINGWARD_TRY(WriteOne(events[0], metrics));
    }
    events = events.subspan(std::max<std::size_t>(run, 1));
  }
  return Ok();
}

Status EventWriter::WriteOne(const signal::Event& event, const signal::MetricTable& metrics) {
  return std::visit(
      [&](const auto& what) -> Status {
        using T = std::decay_t<decltype(what)>;
        if constexpr (std::is_same_v<T, signal::JobOpened>) {
          return WriteJob(event, what);
        } else if constexpr (std::is_same_v<T, signal::JobClosed>) {
          return plain_.Run(event.number, static_cast<std::int64_t>(EventKind::kJobClosed),
                            Nanoseconds(event.received), std::string_view());
        } else if constexpr (std::is_same_v<T, signal::Frame>) {
          return WriteFrame(event, what, metrics);
        } else if constexpr (std::is_same_v<T, signal::Progress>) {
          return WriteProgress({&event, 1});
        } else if constexpr (std::is_same_v<T, signal::RankEnded>) {
          return ended_.Run(event.number, static_cast<std::int64_t>(EventKind::kRankEnded),
                            Nanoseconds(event.received), what.rank, what.exit_status, what.signal);
        } else if constexpr (std::is_same_v<T, signal::LogLine>) {
          return WriteLogLine(event, what);
        } else {
          return WriteSource(event, std::is_same_v<T, signal::SourceLost>, what.ranks);
        }
      },
      event.what);
}

Status EventWriter::WriteProgress(std::span<const signal::Event> run) {
  RINGWARD_ASSIGN(const auto blob, packer_.Pack(run));
  return progress_.Run(run[0].number, static_cast<std::int64_t>(EventKind::kProgress),
                       Nanoseconds(run[0].received), run.size(), blob);
}

Status EventWriter::WriteJob(const signal::Event& event, const signal::JobOpened& job) {
  RINGWARD_TRY(plain_.Run(event.number, static_cast<std::int64_t>(EventKind::kJobOpened),
                          Nanoseconds(event.received), std::string_view(job.job)));
  for (std::size_t rank = 0; rank < job.topology.world(); ++rank) {
    const signal::RankPlace& place = job.topology.place(rank);
    RINGWARD_TRY(
        rank_.Run(event.number, rank, std::string_view(place.host), place.stage, place.replica));
  }
  return Ok();
}

Status EventWriter::WriteFrame(const signal::Event& event, const signal::Frame& frame,
                               const signal::MetricTable& metrics) {
  RINGWARD_TRY(AddMetrics(metrics));
  RINGWARD_TRY(frame_.Run(event.number, static_cast<std::int64_t>(EventKind::kFrame),
                          Nanoseconds(event.received), frame.step, frame.steps,
                          frame.expected_slow ? 1 : 0, Nanoseconds(frame.received)));
  std::uint64_t key = event.number * kColumnsMax;
  for (const signal::Column& column : frame.columns) {
    if (column.metric >= file_ids_.size()) {
      return Error(Code::kInvalidInput, "a frame's metric has no name");
    }
    RINGWARD_ASSIGN(const auto blob, packer_.Pack(std::span<const float>(column.values)));
    RINGWARD_TRY(sample_.Run(key++, file_ids_[column.metric], column.values.size(), blob));
  }
  return Ok();
}

Status EventWriter::WriteSource(const signal::Event& event, bool lost,
                                std::span<const std::int32_t> ranks) {
  const EventKind kind = lost ? EventKind::kSourceLost : EventKind::kSourceBack;
  const std::string text = RangesOf(ranks);
  return plain_.Run(event.number, static_cast<std::int64_t>(kind), Nanoseconds(event.received),
                    std::string_view(text));
}

// Columns of other kinds of events serve: the tables of a version stand to the letter.
Status EventWriter::WriteLogLine(const signal::Event& event, const signal::LogLine& line) {
  const std::string text = RangesOf(line.ranks) + "\n" + line.where.file + "\n" + line.where.text;
  return log_line_.Run(event.number, static_cast<std::int64_t>(EventKind::kLogLine),
                       Nanoseconds(event.received), static_cast<std::int64_t>(line.category),
                       static_cast<std::int64_t>(line.kind), std::string_view(text),
                       line.where.line, Nanoseconds(signal::FromSeconds(line.seconds)));
}

// A recording that is continued by another process may number its metrics in another order.
Status EventWriter::AddMetrics(const signal::MetricTable& metrics) {
  if (ids_.empty()) RINGWARD_TRY(LoadNames());
  while (file_ids_.size() < metrics.size()) {
    const std::string& name = metrics.NameOf(static_cast<signal::MetricId>(file_ids_.size()));
    const auto [at, fresh] = ids_.try_emplace(name, static_cast<std::int64_t>(ids_.size()));
    if (fresh) RINGWARD_TRY(metric_.Run(at->second, std::string_view(name)));
    file_ids_.push_back(at->second);
  }
  return Ok();
}

Status EventWriter::LoadNames() {
  names_.Start();
  while (true) {
    RINGWARD_ASSIGN(const bool row, names_.Step());
    if (!row) return Ok();
    const auto* name = reinterpret_cast<const char*>(sqlite3_column_text(names_.get(), 1));
    if (name != nullptr) ids_.emplace(name, sqlite3_column_int64(names_.get(), 0));
  }
}

}  // namespace ringward::recording
