#include "recording/writer.h"

#include <utility>

#include "recording/event_rules.h"
#include "recording/event_writer.h"
#include "recording/file_system.h"
#include "recording/retention.h"
#include "recording/schema.h"
#include "recording/verdict_writer.h"

namespace ringward::recording {
namespace {

constexpr signal::Time kOneMinute = std::chrono::minutes(1);

/// An empty file becomes a recording, a recording is accepted, all else is refused.
Status Prepare(Database& database) {
  RINGWARD_TRY(database.Run("PRAGMA busy_timeout = 5000"));
  const auto tables = database.Number("SELECT count(*) FROM sqlite_schema");
  const bool empty = tables && *tables == 0;
  if (!empty) RINGWARD_TRY(CheckSchema(database));
  if (empty) {
    RINGWARD_ASSIGN(const std::int64_t id, database.Number("PRAGMA application_id"));
    if (id != 0) return CheckSchema(database);
    RINGWARD_TRY(database.Run("PRAGMA page_size = 4096"));
    RINGWARD_TRY(database.Run("PRAGMA auto_vacuum = INCREMENTAL"));
  }
  RINGWARD_TRY(database.Run("PRAGMA journal_mode = WAL"));
  RINGWARD_TRY(database.Run("PRAGMA journal_size_limit = 16777216"));
  // A power failure may take the last batches, never the file; a killed process takes nothing.
  RINGWARD_TRY(database.Run("PRAGMA synchronous = NORMAL"));
  return empty ? CreateSchema(database) : Ok();
}

/// What is wrong with the batch, if anything.
Status CheckBatch(const Batch& batch, const signal::MetricTable& metrics, EventRules& rules,
                  std::uint64_t next_call) {
  const auto wrong = [](const char* what, std::uint64_t number, const char* why) {
    return Error(Code::kInvalidInput,
                 std::string("recording ") + what + " " + std::to_string(number) + ": " + why);
  };
  for (const signal::Event& event : batch.events) {
    if (const char* why = rules.Check(event)) return wrong("event", event.number, why);
    const auto* frame = std::get_if<signal::Frame>(&event.what);
    if (frame == nullptr) continue;
    for (const signal::Column& column : frame->columns) {
      if (column.metric >= metrics.size()) {
        return wrong("event", event.number, "a metric has no name");
      }
    }
  }
  for (const Call& call : batch.calls) {
    if (call.number < next_call) return wrong("call", call.number, "its number does not follow");
    if (call.number > kEventMax) return wrong("call", call.number, "its number is too high");
    if (call.now.count() < 0 || call.now.count() > kTimeMax) {
      return wrong("call", call.number, "its time is out of range");
    }
    if (call.last_event < -1 || call.last_event > static_cast<std::int64_t>(kEventMax)) {
      return wrong("call", call.number, "there is no such last event");
    }
    next_call = call.number + 1;
  }
  return Ok();
}

}  // namespace

struct Writer::Parts {
  Database database;
  EventWriter events;
  VerdictWriter verdicts;
  Retention retention;
  Statement begin, commit, call, rule;
  EventRules rules;
  std::uint64_t next_call = 0;
  bool stopped = false;
  Dropped dropped;

  Status Load();
  Status Write(const Batch& batch, const signal::MetricTable& metrics);
  Status WriteEvents(std::span<const signal::Event> events, const signal::MetricTable& metrics);
  Status WriteCall(const Call& each);
  void Count(const Batch& batch);
};

Status Writer::Parts::Load() {
  RINGWARD_ASSIGN(events, EventWriter::Make(database));
  RINGWARD_ASSIGN(verdicts, VerdictWriter::Make(database));
  RINGWARD_ASSIGN(begin, database.Prepare("BEGIN IMMEDIATE"));
  RINGWARD_ASSIGN(commit, database.Prepare("COMMIT"));
  RINGWARD_ASSIGN(call, database.Prepare("INSERT INTO call_rows VALUES(?,?,?,?)"));
  RINGWARD_ASSIGN(rule, database.Prepare("INSERT INTO rule_rows VALUES(?,?)"));
  RINGWARD_ASSIGN(
      const std::int64_t next,
      database.Number("SELECT max(max(number + ifnull(count, 1)), (SELECT max(last_event)"
                      " + 1 FROM span_rows)) FROM event_rows"));
  RINGWARD_ASSIGN(const std::int64_t calls,
                  database.Number("SELECT max(last_call) + 1 FROM span_rows"));
  RINGWARD_ASSIGN(const std::int64_t world,
                  database.Number("SELECT count(*) FROM rank_rows WHERE event ="
                                  " (SELECT max(number) FROM event_rows WHERE kind = 1)"));
  if (next > 0) {
    rules = EventRules(static_cast<std::uint64_t>(next) - 1, static_cast<std::size_t>(world));
  }
  next_call = static_cast<std::uint64_t>(calls);
  return Ok();
}

Status Writer::Parts::Write(const Batch& batch, const signal::MetricTable& metrics) {
  RINGWARD_TRY(begin.Run());
  RINGWARD_TRY(WriteEvents(batch.events, metrics));
  for (const Call& each : batch.calls) RINGWARD_TRY(WriteCall(each));
  for (const signal::Finding& finding : batch.findings) RINGWARD_TRY(verdicts.Write(finding));
  for (const signal::Cause& cause : batch.causes) {
    RINGWARD_TRY(verdicts.Write(cause, retention.now()));
    retention.NoteCause(cause, retention.now());
  }
  return commit.Run();
}

Status Writer::Parts::WriteEvents(std::span<const signal::Event> all,
                                  const signal::MetricTable& metrics) {
  while (!all.empty()) {
    std::size_t count = 0;
    while (count < all.size() && all[count].received / kOneMinute == all[0].received / kOneMinute) {
      if (std::holds_alternative<signal::JobOpened>(all[count].what)) {
        retention.NoteJob(all[count].number);
      }
      ++count;
    }
    const auto minute = all.first(count);
    RINGWARD_TRY(events.Write(minute, metrics));
    RINGWARD_TRY(
        retention.NoteEvents(minute.back().received, minute.front().number, minute.back().number));
    all = all.subspan(count);
  }
  return Ok();
}

Status Writer::Parts::WriteCall(const Call& each) {
  RINGWARD_TRY(call.Run(each.number, each.now.count(), each.last_event, each.dropped));
  if (each.rules) RINGWARD_TRY(rule.Run(each.number, std::string_view(*each.rules)));
  next_call = each.number + 1;
  return retention.NoteCall(each.now, each.number);
}

void Writer::Parts::Count(const Batch& batch) {
  dropped.events += batch.events.size();
  dropped.calls += batch.calls.size();
  dropped.findings += batch.findings.size();
  dropped.causes += batch.causes.size();
}

Writer::Writer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() = default;

Result<Writer> Writer::Open(const std::string& path, const Limits& limits) {
  RINGWARD_TRY(CheckLocal(path));
  auto parts = std::make_unique<Parts>();
  RINGWARD_ASSIGN(parts->database,
                  Database::Open(path, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  RINGWARD_TRY(Prepare(parts->database));
  RINGWARD_ASSIGN(parts->retention, Retention::Make(parts->database, limits));
  RINGWARD_TRY(parts->Load());
  return Writer(std::move(parts));
}

Status Writer::Append(const Batch& batch, const signal::MetricTable& metrics) {
  if (parts_->stopped) {
    parts_->Count(batch);
    return Ok();
  }
  EventRules rules = parts_->rules;
  if (Status sound = CheckBatch(batch, metrics, rules, parts_->next_call); !sound) {
    parts_->Count(batch);
    return sound;
  }
  Status done = parts_->Write(batch, metrics);
  if (!done) parts_->Count(batch);
  if (done) {
    parts_->rules = rules;
    done = parts_->retention.Upkeep();
  }
  if (done) return Ok();
  parts_->stopped = true;
  // SQLite has undone it already where it had to.
  if (sqlite3_get_autocommit(parts_->database.get()) == 0) {
    (void)parts_->database.Run("ROLLBACK");
  }
  return std::move(done).error().While("recording; nothing more is recorded");
}

bool Writer::stopped() const { return parts_->stopped; }
const Dropped& Writer::dropped() const { return parts_->dropped; }
std::uint64_t Writer::next_event() const {
  const auto last = parts_->rules.last();
  return last ? *last + 1 : 0;
}
std::uint64_t Writer::next_call() const { return parts_->next_call; }

Status Writer::Close() {
  Status done = parts_->stopped ? Ok() : parts_->database.Run("PRAGMA wal_checkpoint(TRUNCATE)");
  parts_.reset();
  return done;
}

}  // namespace ringward::recording
