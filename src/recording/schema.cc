#include "recording/schema.h"

#include <array>
#include <string>

namespace ringward::recording {
namespace {

constexpr std::array kTables = {
    TableText{"metric_rows", R"sql(CREATE TABLE metric_rows (
  metric INTEGER PRIMARY KEY,
  name TEXT NOT NULL
) STRICT)sql"},
    TableText{"event_rows", R"sql(CREATE TABLE event_rows (
  number INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  received INTEGER NOT NULL,
  step INTEGER,
  steps INTEGER,
  expected_slow INTEGER,
  closed INTEGER,
  rank INTEGER,
  exit_status INTEGER,
  signal INTEGER,
  text TEXT,
  count INTEGER,
  data BLOB
) STRICT)sql"},
    TableText{"sample_rows", R"sql(CREATE TABLE sample_rows (
  key INTEGER PRIMARY KEY,
  metric INTEGER NOT NULL,
  count INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT)sql"},
    TableText{"rank_rows", R"sql(CREATE TABLE rank_rows (
  event INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  host TEXT NOT NULL,
  stage INTEGER NOT NULL,
  replica INTEGER NOT NULL,
  PRIMARY KEY (event, rank)
) STRICT, WITHOUT ROWID)sql"},
    TableText{"call_rows", R"sql(CREATE TABLE call_rows (
  number INTEGER PRIMARY KEY,
  now INTEGER NOT NULL,
  last_event INTEGER NOT NULL,
  dropped INTEGER NOT NULL
) STRICT)sql"},
    TableText{"rule_rows", R"sql(CREATE TABLE rule_rows (
  call INTEGER PRIMARY KEY,
  rules TEXT NOT NULL
) STRICT)sql"},
    TableText{"finding_rows", R"sql(CREATE TABLE finding_rows (
  key INTEGER PRIMARY KEY,
  id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  detector TEXT NOT NULL,
  ranks TEXT NOT NULL,
  host TEXT NOT NULL,
  stage INTEGER NOT NULL,
  phase TEXT NOT NULL,
  step INTEGER NOT NULL,
  since_step INTEGER NOT NULL,
  at INTEGER NOT NULL,
  p_value REAL,
  effect REAL,
  elapsed_seconds REAL,
  lost_seconds REAL,
  over INTEGER NOT NULL,
  evidence TEXT NOT NULL
) STRICT)sql"},
    TableText{"cause_rows", R"sql(CREATE TABLE cause_rows (
  key INTEGER PRIMARY KEY,
  id INTEGER NOT NULL,
  category TEXT NOT NULL,
  cause TEXT NOT NULL,
  summary TEXT NOT NULL,
  culprit_ranks TEXT NOT NULL,
  victim_ranks TEXT NOT NULL,
  confidence REAL,
  remedy TEXT NOT NULL,
  action TEXT NOT NULL,
  since_step INTEGER NOT NULL,
  found_step INTEGER NOT NULL,
  started INTEGER NOT NULL,
  found INTEGER NOT NULL,
  over INTEGER NOT NULL,
  lost_seconds REAL,
  speedup_without REAL,
  written INTEGER NOT NULL
) STRICT)sql"},
    TableText{"host_rows", R"sql(CREATE TABLE host_rows (
  cause_key INTEGER NOT NULL,
  position INTEGER NOT NULL,
  host TEXT NOT NULL,
  PRIMARY KEY (cause_key, position)
) STRICT, WITHOUT ROWID)sql"},
    TableText{"evidence_rows", R"sql(CREATE TABLE evidence_rows (
  cause_key INTEGER NOT NULL,
  position INTEGER NOT NULL,
  file TEXT NOT NULL,
  line INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (cause_key, position)
) STRICT, WITHOUT ROWID)sql"},
    TableText{"minute_rows", R"sql(CREATE TABLE minute_rows (
  minute INTEGER NOT NULL,
  metric INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  count INTEGER NOT NULL,
  minimum REAL,
  median REAL,
  maximum REAL,
  PRIMARY KEY (minute, metric, rank)
) STRICT, WITHOUT ROWID)sql"},
    TableText{"span_rows", R"sql(CREATE TABLE span_rows (
  minute INTEGER PRIMARY KEY,
  first_event INTEGER NOT NULL,
  last_event INTEGER NOT NULL,
  first_call INTEGER NOT NULL,
  last_call INTEGER NOT NULL,
  state INTEGER NOT NULL
) STRICT)sql"},
};

// For people. Ranges of ranks are JSON, [[0,2],[7,7]] for 0, 1, 2 and 7.
constexpr std::array kViews = {
    R"sql(CREATE VIEW events AS SELECT number,
  CASE kind WHEN 1 THEN 'job-opened' WHEN 2 THEN 'job-closed' WHEN 3 THEN 'frame'
    WHEN 4 THEN 'progress' WHEN 5 THEN 'rank-ended' WHEN 6 THEN 'source-lost'
    WHEN 7 THEN 'source-back' WHEN 8 THEN 'log-line' END AS kind,
  strftime('%Y-%m-%dT%H:%M:%fZ', received / 1e9, 'unixepoch') AS received,
  step, steps, expected_slow, rank, exit_status, signal, text, count
FROM event_rows)sql",
    R"sql(CREATE VIEW ranks AS SELECT rank, host, stage, replica
FROM rank_rows WHERE event = (SELECT max(event) FROM rank_rows))sql",
    R"sql(CREATE VIEW findings AS SELECT id, kind, detector, ranks, host, stage, phase, since_step, step,
  strftime('%Y-%m-%dT%H:%M:%fZ', at / 1e9, 'unixepoch') AS at,
  p_value, effect, elapsed_seconds, lost_seconds, over, evidence
FROM finding_rows WHERE key IN (SELECT max(key) FROM finding_rows GROUP BY id))sql",
    R"sql(CREATE VIEW finding_ranks AS SELECT f.id AS finding, r.rank
FROM findings AS f, json_each(f.ranks) AS j
JOIN ranks AS r ON r.rank BETWEEN j.value ->> 0 AND j.value ->> 1)sql",
    R"sql(CREATE VIEW causes AS SELECT id, category, cause, summary, culprit_ranks,
  (SELECT group_concat(host, ' ') FROM host_rows WHERE cause_key = c.key) AS culprit_hosts,
  victim_ranks, confidence,
  (SELECT text FROM evidence_rows WHERE cause_key = c.key AND position = 0) AS first_evidence,
  remedy, action, since_step, found_step,
  strftime('%Y-%m-%dT%H:%M:%fZ', started / 1e9, 'unixepoch') AS started,
  strftime('%Y-%m-%dT%H:%M:%fZ', found / 1e9, 'unixepoch') AS found,
  over, lost_seconds, speedup_without
FROM cause_rows AS c WHERE key IN (SELECT max(key) FROM cause_rows GROUP BY id))sql",
    R"sql(CREATE VIEW cause_ranks AS SELECT c.id AS cause, 'culprit' AS role, r.rank
FROM causes AS c, json_each(c.culprit_ranks) AS j
JOIN ranks AS r ON r.rank BETWEEN j.value ->> 0 AND j.value ->> 1
UNION ALL SELECT c.id, 'victim', r.rank
FROM causes AS c, json_each(c.victim_ranks) AS j
JOIN ranks AS r ON r.rank BETWEEN j.value ->> 0 AND j.value ->> 1)sql",
    R"sql(CREATE VIEW minutes AS SELECT
  strftime('%Y-%m-%dT%H:%MZ', minute * 60, 'unixepoch') AS minute,
  name AS metric, rank, count, minimum, median, maximum
FROM minute_rows JOIN metric_rows USING (metric))sql",
    R"sql(CREATE VIEW samples AS SELECT e.number AS event, e.step,
  strftime('%Y-%m-%dT%H:%M:%fZ', e.received / 1e9, 'unixepoch') AS received,
  m.name AS metric, j.key AS rank, j.value
FROM event_rows AS e
JOIN sample_rows AS s ON s.key BETWEEN e.number * 4096 AND e.number * 4096 + 4095
JOIN metric_rows AS m ON m.metric = s.metric,
  json_each(ringward_values(s.data, s.count)) AS j
WHERE e.kind = 3 AND j.type <> 'false')sql",
};

Error NoRecording(const Database& database) {
  return {Code::kInvalidInput, database.name() + ": is no recording of Ringward"};
}

Status CheckTables(Database& database) {
  RINGWARD_ASSIGN(Statement find, database.Prepare("SELECT sql FROM sqlite_schema WHERE "
                                                   "type = 'table' AND name = ?"));
  for (const TableText& table : kTables) {
    find.Start(std::string_view(table.name));
    RINGWARD_ASSIGN(const bool there, find.Step());
    const auto* sql = there ? sqlite3_column_text(find.get(), 0) : nullptr;
    if (sql == nullptr || std::string_view(reinterpret_cast<const char*>(sql)) != table.sql) {
      return Error(Code::kCorrupt, database.name() + ": table " + table.name +
                                       " is not that of a recording of version " +
                                       std::to_string(kFormatVersion));
    }
    find.Reset();
  }
  return Ok();
}

}  // namespace

std::span<const TableText> Tables() { return kTables; }

Status CreateSchema(Database& database) {
  RINGWARD_TRY(database.Run("BEGIN IMMEDIATE"));
  for (const TableText& table : kTables) RINGWARD_TRY(database.Run(table.sql));
  for (const char* view : kViews) RINGWARD_TRY(database.Run(view));
  RINGWARD_TRY(database.Run("PRAGMA application_id = " + std::to_string(kApplicationId)));
  RINGWARD_TRY(database.Run("PRAGMA user_version = " + std::to_string(kFormatVersion)));
  return database.Run("COMMIT");
}

Status CheckSchema(Database& database) {
  const auto id = database.Number("PRAGMA application_id");
  // SQLite finds out at the first look that a file is none of its own.
  if (!id && sqlite3_errcode(database.get()) == SQLITE_NOTADB) return NoRecording(database);
  if (!id) return id.error();
  if (*id != kApplicationId) return NoRecording(database);
  RINGWARD_ASSIGN(const std::int64_t version, database.Number("PRAGMA user_version"));
  if (version > kFormatVersion) {
    return Error(Code::kInvalidInput, database.name() + ": is a recording of version " +
                                          std::to_string(version) + "; this program reads up to " +
                                          std::to_string(kFormatVersion));
  }
  if (version < 1) return NoRecording(database);
  return CheckTables(database);
}

}  // namespace ringward::recording
