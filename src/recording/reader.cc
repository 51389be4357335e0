#include "recording/reader.h"

#include <errno.h>
#include <sys/stat.h>

#include <cstring>
#include <limits>
#include <utility>

#include "base/system_error.h"
#include "recording/event_reader.h"
#include "recording/schema.h"
#include "recording/verdict_reader.h"

namespace ringward::recording {
namespace {

/// Longest text or blob that SQLite hands out; progress of 65,536 events has at most 2.2 MB.
constexpr int kLengthMax = 1 << 26;
/// Steps of SQLite's machine within which every answer must come: seconds. A damaged file can lead
/// in circles.
constexpr int kStepsMax = 100'000'000;

/// Nothing that stands in the file is run, and its pages are trusted with nothing.
Status Harden(Database& database) {
  sqlite3* handle = database.get();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLengthMax);
  sqlite3_progress_handler(
      handle, kStepsMax, [](void*) { return 1; }, nullptr);
  RINGWARD_TRY(database.Run("PRAGMA cell_size_check = ON"));
  return database.Run("PRAGMA mmap_size = 0");
}

/// `path` as an URI that says: nobody writes this file.
std::string Immutable(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    switch (c) {
      case '%':
        uri += "%25";
        break;
      case '?':
        uri += "%3f";
        break;
      case '#':
        uri += "%23";
        break;
      default:
        uri += c;
    }
  }
  return uri + "?immutable=1";
}

Result<Database> OpenFile(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return PathError(path, "open", errno);
  if (S_ISDIR(info.st_mode)) return PathError(path, "open", EISDIR);
  // Without a log there is no writer; opened like any other, SQLite would make the files that
  // writer and readers share, and leave them there.
  struct stat log {};
  if (stat((path + "-wal").c_str(), &log) == 0) {
    return Database::Open(path, path, SQLITE_OPEN_READONLY);
  }
  return Database::Open(Immutable(path), path, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

}  // namespace

struct Reader::Parts {
  std::string bytes;  ///< of a recording in memory
  Database database;
  EventReader events;
  VerdictReader verdicts;
  Statement call, rules_before;
  std::uint64_t next_call = 0;
  bool rules_wanted = false;  ///< the next call gets those that were in force

  Result<std::optional<Call>> ReadCall();
  Result<std::optional<std::string>> RulesBefore(std::uint64_t number);
};

Reader::Reader(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Result<Reader> Reader::Open(const std::string& path) {
  auto parts = std::make_unique<Parts>();
  RINGWARD_ASSIGN(parts->database, OpenFile(path));
  return Begin(std::move(parts));
}

Result<Reader> Reader::FromMemory(std::string bytes, const std::string& name) {
  auto parts = std::make_unique<Parts>();
  parts->bytes = std::move(bytes);
  RINGWARD_ASSIGN(parts->database,
                  Database::Open(":memory:", name, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY));
  std::string& held = parts->bytes;
  // Where the header says how the file is journalled: memory has no log.
  constexpr std::size_t kJournalAt = 18;
  if (held.size() > kJournalAt + 1) held.replace(kJournalAt, 2, "\1\1");
  const auto size = static_cast<sqlite3_int64>(held.size());
  if (sqlite3_deserialize(parts->database.get(), "main",
                          reinterpret_cast<unsigned char*>(held.data()), size, size,
                          SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) {
    return SqliteError(name, parts->database.get());
  }
  return Begin(std::move(parts));
}

Result<Reader> Reader::Begin(std::unique_ptr<Parts> parts) {
  Database& database = parts->database;
  RINGWARD_TRY(Harden(database));
  RINGWARD_TRY(CheckSchema(database));
  RINGWARD_ASSIGN(parts->events, EventReader::Make(database));
  RINGWARD_ASSIGN(parts->verdicts, VerdictReader::Make(database));
  RINGWARD_ASSIGN(parts->call,
                  database.Prepare("SELECT number, now, last_event, dropped, "
                                   "(SELECT rules FROM rule_rows WHERE call BETWEEN ?1 AND number "
                                   "ORDER BY call DESC LIMIT 1) AS rules "
                                   "FROM call_rows WHERE number >= ?1 ORDER BY number LIMIT 1"));
  RINGWARD_ASSIGN(parts->rules_before,
                  database.Prepare("SELECT call, rules FROM rule_rows WHERE call <= ?"
                                   " ORDER BY call DESC LIMIT 1"));
  return Reader(std::move(parts));
}

const signal::MetricTable& Reader::metrics() const { return parts_->events.metrics(); }
Result<std::optional<signal::Event>> Reader::NextEvent() { return parts_->events.Next(); }
Result<std::optional<signal::Finding>> Reader::NextFinding() {
  return parts_->verdicts.NextFinding();
}
Result<std::optional<signal::Cause>> Reader::NextCause() { return parts_->verdicts.NextCause(); }
Status Reader::SeekEvent(std::uint64_t number) { return parts_->events.Seek(number); }

Status Reader::SeekCall(std::uint64_t number) {
  parts_->next_call = std::min(number, kEventMax);
  parts_->rules_wanted = true;
  return Ok();
}

Result<std::optional<Call>> Reader::NextCall() {
  auto next = parts_->ReadCall();
  parts_->call.Reset();
  if (!next || !*next || !parts_->rules_wanted) return next;
  RINGWARD_ASSIGN((*next)->rules, parts_->RulesBefore((*next)->number));
  parts_->rules_wanted = false;
  return next;
}

Result<std::optional<Call>> Reader::Parts::ReadCall() {
  call.Start(next_call);
  RINGWARD_ASSIGN(const bool there, call.Step());
  if (!there) return std::optional<Call>();
  Row row(call, database.name(), "call_rows");
  Call read;
  read.number = row.Int<std::uint64_t>(0, next_call, kEventMax);
  read.now = signal::Time(row.Int<std::int64_t>(1, 0, kTimeMax));
  read.last_event = row.Int<std::int64_t>(2, -1, kEventMax);
  read.dropped = row.Bits(3);
  if (sqlite3_column_type(call.get(), 4) != SQLITE_NULL) read.rules = row.Text(4);
  RINGWARD_TRY(row.Verdict());
  next_call = read.number + 1;
  return std::optional(std::move(read));
}

Result<std::optional<std::string>> Reader::Parts::RulesBefore(std::uint64_t number) {
  rules_before.Start(number);
  RINGWARD_ASSIGN(const bool there, rules_before.Step());
  if (!there) return std::optional<std::string>();
  Row row(rules_before, database.name(), "rule_rows");
  std::optional<std::string> rules(row.Text(1));
  const Status verdict = row.Verdict();
  rules_before.Reset();
  RINGWARD_TRY(verdict);
  return rules;
}

Result<std::vector<Minute>> Reader::Minutes() {
  RINGWARD_ASSIGN(Statement rows, parts_->database.Prepare(
                                      "SELECT minute, first_event, last_event + 1 AS event_end,"
                                      " first_call, last_call + 1 AS call_end, state"
                                      " FROM span_rows ORDER BY minute"));
  std::vector<Minute> minutes;
  rows.Start();
  while (true) {
    RINGWARD_ASSIGN(const bool there, rows.Step());
    if (!there) return minutes;
    Row row(rows, parts_->database.name(), "span_rows");
    Minute minute;
    minute.minute = row.Int<std::int64_t>(0);
    minute.first_event = row.Int<std::uint64_t>(1, 0, kEventMax + 1);
    minute.event_end = row.Int<std::uint64_t>(2, 0, kEventMax + 1);
    minute.first_call = row.Int<std::uint64_t>(3, 0, kEventMax + 1);
    minute.call_end = row.Int<std::uint64_t>(4, 0, kEventMax + 1);
    minute.full = row.Int<std::int64_t>(5, 0, 2) != static_cast<std::int64_t>(SpanState::kThinned);
    if (!minutes.empty() && minute.minute <= minutes.back().minute) row.Refuse("does not follow");
    RINGWARD_TRY(row.Verdict());
    minutes.push_back(minute);
  }
}

}  // namespace ringward::recording
