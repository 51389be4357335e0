#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "ringward/cli/json.h"

namespace ringward::cli {

/// A buffered writer of one file descriptor, usually standard output, that notices when writing
/// fails: a full disk is an error, a reader that went away (`ringward score | head`) is a quiet
/// end. After the first failure everything is dropped and failed() is true. Not safe for concurrent
/// use.
class Output {
 public:
  explicit Output(int fd) : fd_(fd) {}
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void Write(std::string_view text);
  template <typename... Args>
  void Print(fmt::format_string<Args...> format, Args&&... args) {
    Write(fmt::format(format, std::forward<Args>(args)...));
  }
  /// One document, indented, with a newline.
  void WriteJson(const Json& document);
  /// Writes what is buffered: for streams, after each answer.
  void Flush();

  /// True after a failed write: a long job can stop early.
  bool failed() const { return error_ != 0; }
  /// True when the failure was a reader that closed its end.
  bool reader_left() const;
  /// Somebody else who wrote to the same descriptor saw that the reader has closed its end.
  void NoteReaderLeft();
  /// Flushes. kResource with "standard output: No space left on device" after any failed write.
  Status Finish();

 private:
  int fd_;
  int error_ = 0;  ///< errno of the first failed write
  std::string buffer_;
};

}  // namespace ringward::cli
