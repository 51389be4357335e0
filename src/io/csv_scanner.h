#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/byte_source.h"

namespace ringward::io {

/// Cuts a stream of bytes into records and fields by RFC 4180: fields may be quoted, quoted fields
/// may hold delimiters, line ends and doubled quotes. Lines end in LF or CR LF; empty lines are
/// skipped; a UTF-8 byte-order mark at the start is too. Files of lines that end in CR alone are
/// kInvalidInput. Not safe for concurrent use.
class CsvScanner {
 public:
  /// Bytes of one record at most, without the LF at its end.
  static constexpr std::size_t kRecordMax = std::size_t{16} << 20;
  enum class Got { kRecord, kNeedMore, kEnd };

  explicit CsvScanner(std::unique_ptr<ByteSource> source);

  void SetDelimiter(char delimiter) { delimiter_ = delimiter; }
  /// Cuts the next record out of the bytes that are here, without reading. The fields are valid
  /// until the next call of any function. Errors name file, line and field.
  Result<Got> TryNext(std::vector<std::string_view>& fields);
  /// Like TryNext, but reads until there is a record: false at the end.
  Result<bool> Next(std::vector<std::string_view>& fields);
  /// Reads what the source has now, at least one byte or the end. REQUIRES: TryNext needs more.
  Status Fill() { return Fill(at_); }
  /// Line of the record that TryNext gave last, from 1.
  std::uint64_t line() const { return record_line_; }
  const std::string& name() const { return source_->name(); }

  /// Before the first record only: non-empty line `n` (0 or 1) as it is, reading as far as
  /// needed; empty where the file is shorter. Skips the byte-order mark; UTF-16 is kInvalidInput.
  Result<std::string> PeekLine(int n);
  /// Goes back to the first byte; allowed until Commit().
  void Rewind();
  /// Ends the time of PeekLine and Rewind.
  void Commit() { keep_ = false; }

 private:
  Result<Got> TryQuoted(std::vector<std::string_view>& fields);
  Error Bad(std::size_t field, std::string_view what) const;
  /// The first `bytes` of the file, where no LF has come so far, are no lines that end in CR alone.
  Status CheckLineEnds(std::string_view bytes) const;
  /// The record that starts at `record` is not all here yet.
  Status Fill(std::size_t record);
  /// The record behind `lines_` may have that many bytes.
  Status CheckLength(std::size_t bytes) const;
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  ///< first byte behind the byte-order mark
  std::size_t at_ = 0;     ///< start of the next record
  std::size_t end_ = 0;
  std::size_t searched_ = 0;  ///< no LF between at_ and here
  bool eof_ = false;
  bool full_ = false;  ///< the last read took all the room there was
  bool keep_ = true;
  char delimiter_ = ',';
  std::uint64_t lines_ = 0;  ///< complete lines before at_
  std::uint64_t record_line_ = 0;
  std::string unquoted_;  ///< fields of a record with quotes, one after another
  std::vector<std::size_t> ends_;
};

}  // namespace ringward::io
