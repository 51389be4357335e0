#include "recording/sqlite.h"

#include "base/text_value.h"

namespace ringward::recording {
namespace {

/// What the caller can do about SQLite's failures.
Code CodeOf(int primary) {
  switch (primary) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_MISMATCH:
    case SQLITE_INTERRUPT:  // our own limit on the work for one row
      return Code::kCorrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Code::kUnavailable;
    case SQLITE_CONSTRAINT:
    case SQLITE_ERROR:
      return Code::kInvalidInput;
    default:
      return Code::kResource;
  }
}

}  // namespace

Error SqliteError(const std::string& name, sqlite3* handle) {
  const int primary = sqlite3_errcode(handle) & 0xff;
  constexpr std::size_t kLongest = 200;
  return {CodeOf(primary), name + ": " + Printable(sqlite3_errmsg(handle), kLongest)};
}

Result<bool> Statement::Step() {
  const int code = sqlite3_step(get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    Reset();
    return false;
  }
  Error error = SqliteError(name_, sqlite3_db_handle(get()));
  Reset();
  return error;
}

void Statement::Bind(int at, std::string_view text) {
  // A null pointer would be NULL, not the empty text.
  sqlite3_bind_text64(get(), at, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
}

void Statement::Bind(int at, std::span<const std::byte> blob) {
  sqlite3_bind_blob64(get(), at, blob.empty() ? static_cast<const void*>("") : blob.data(),
                      blob.size(), SQLITE_STATIC);
}

Result<Database> Database::Open(const std::string& uri, const std::string& name, int flags) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(uri.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (handle == nullptr) return Error(Code::kResource, name + ": no memory to open it");
  Database database;
  database.name_ = name;
  database.handle_.reset(handle);
  if (code != SQLITE_OK) return SqliteError(name, handle);
  return database;
}

Result<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return SqliteError(name_, get());
  return Statement(name_, statement);
}

Status Database::Run(std::string_view sql) {
  RINGWARD_ASSIGN(Statement statement, Prepare(sql));
  while (true) {
    RINGWARD_ASSIGN(const bool row, statement.Step());
    if (!row) return Ok();
  }
}

Result<std::int64_t> Database::Number(std::string_view sql) {
  RINGWARD_ASSIGN(Statement statement, Prepare(sql));
  RINGWARD_ASSIGN(const bool row, statement.Step());
  return row ? std::int64_t{sqlite3_column_int64(statement.get(), 0)} : 0;
}

std::int64_t Row::Integer(int column) {
  if (sqlite3_column_type(statement_, column) != SQLITE_INTEGER) {
    Refuse(column, "is no integer");
    return 0;
  }
  return sqlite3_column_int64(statement_, column);
}

double Row::Real(int column) {
  const int type = sqlite3_column_type(statement_, column);
  if (type == SQLITE_NULL) return std::numeric_limits<double>::quiet_NaN();
  if (type == SQLITE_FLOAT || type == SQLITE_INTEGER) {
    return sqlite3_column_double(statement_, column);
  }
  Refuse(column, "is no number");
  return 0.0;
}

std::string_view Row::Text(int column) {
  if (sqlite3_column_type(statement_, column) != SQLITE_TEXT) {
    Refuse(column, "is no text");
    return {};
  }
  const unsigned char* text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::span<const std::byte> Row::Blob(int column) {
  if (sqlite3_column_type(statement_, column) != SQLITE_BLOB) {
    Refuse(column, "is no blob");
    return {};
  }
  const void* blob = sqlite3_column_blob(statement_, column);
  if (blob == nullptr) return {};
  return {static_cast<const std::byte*>(blob),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

void Row::Refuse(int column, std::string_view why) {
  Refuse(std::string(sqlite3_column_name(statement_, column)) + " " + std::string(why));
}

void Row::Refuse(std::string why) {
  if (why_.empty()) why_ = std::move(why);
}

Status Row::Verdict() const {
  if (why_.empty()) return Ok();
  return Error(Code::kCorrupt, file_ + ": " + table_ + " row " +
                                   std::to_string(sqlite3_column_int64(statement_, 0)) + ": " +
                                   why_);
}

}  // namespace ringward::recording
