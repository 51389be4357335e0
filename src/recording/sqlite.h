#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ringward::recording {

// SQLite as this module speaks it: owners, and failures as values. Nothing here is safe for
// concurrent use.

/// One compiled statement. An empty one may only be assigned to.
class Statement {
 public:
  Statement() = default;
  Statement(std::string name, sqlite3_stmt* statement)
      : name_(std::move(name)), statement_(statement, &sqlite3_finalize) {}

  /// Binds `values` from the first parameter on, and runs to the end. Texts and blobs are only
  /// looked at during the call; a NaN is stored as NULL.
  template <typename... Values>
  Status Run(const Values&... values) {
    Start(values...);
    RINGWARD_ASSIGN(const bool row, Step());
    Reset();
    RINGWARD_CHECK(!row);
    return Ok();
  }
  /// Binds `values`; then Step() gives row after row. What was bound must live until Reset().
  template <typename... Values>
  void Start(const Values&... values) {
    Reset();
    int at = 0;
    (Bind(++at, values), ...);
  }
  /// True: there is a row. False: the end, and the statement has been reset.
  Result<bool> Step();
  void Reset() const { sqlite3_reset(statement_.get()); }
  sqlite3_stmt* get() const { return statement_.get(); }

 private:
  template <std::integral T>
  void Bind(int at, T value) {
    // 64 unsigned bits keep their pattern.
    sqlite3_bind_int64(get(), at, static_cast<sqlite3_int64>(value));
  }
  void Bind(int at, double value) { sqlite3_bind_double(get(), at, value); }
  void Bind(int at, std::string_view text);
  void Bind(int at, std::span<const std::byte> blob);

  std::string name_;  ///< of the file, for messages
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement_{nullptr, &sqlite3_finalize};
};

/// One connection.
class Database {
 public:
  Database() = default;
  /// `flags` as for sqlite3_open_v2. `name` is the file in messages.
  static Result<Database> Open(const std::string& uri, const std::string& name, int flags);

  /// Runs SQL without parameters, to the end; rows are passed over.
  Status Run(std::string_view sql);
  Result<Statement> Prepare(std::string_view sql);
  /// The first column of the first row; 0 where there is none.
  Result<std::int64_t> Number(std::string_view sql);
  const std::string& name() const { return name_; }
  sqlite3* get() const { return handle_.get(); }

 private:
  std::string name_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_{nullptr, &sqlite3_close_v2};
};

/// What went wrong last on `handle`: "NAME: MESSAGE".
Error SqliteError(const std::string& name, sqlite3* handle);

/// The current row of a statement over a file that anybody may have made. The first column is the
/// row's key. Every value is checked; what is wrong is kept, and a harmless value handed out.
class Row {
 public:
  Row(const Statement& statement, const std::string& file, const char* table)
      : statement_(statement.get()), file_(file), table_(table) {}

  /// 0 when it is no integer of T within [low, high].
  template <std::integral T>
  T Int(int column, T low = std::numeric_limits<T>::min(), T high = std::numeric_limits<T>::max()) {
    const std::int64_t value = Integer(column);
    if (value >= static_cast<std::int64_t>(low) &&
        (sizeof(T) == sizeof value || value <= static_cast<std::int64_t>(high)) &&
        static_cast<T>(value) <= high) {
      return static_cast<T>(value);
    }
    Refuse(column, "is out of range");
    return T{};
  }
  /// 64 bits of any pattern.
  std::uint64_t Bits(int column) { return static_cast<std::uint64_t>(Integer(column)); }
  /// NULL is a NaN.
  double Real(int column);
  /// Lives until the statement moves on.
  std::string_view Text(int column);
  std::span<const std::byte> Blob(int column);

  void Refuse(int column, std::string_view why);
  /// The whole row is wrong; the first complaint wins.
  void Refuse(std::string why);
  bool sound() const { return why_.empty(); }
  /// kCorrupt "FILE: TABLE row KEY: WHY", after a complaint.
  Status Verdict() const;

 private:
  std::int64_t Integer(int column);
  sqlite3_stmt* statement_;
  const std::string& file_;
  const char* table_;
  std::string why_;
};

}  // namespace ringward::recording
