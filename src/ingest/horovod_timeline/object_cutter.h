#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringward::ingest {

/// Cuts a growing list of JSON objects, as it comes in pieces, into its objects. Needs neither the
/// opening bracket nor the closing one; between objects it takes commas, brackets and white space,
/// and counts other bytes as garbage. Within a string a line never ends in JSON: where one does, a
/// quotation mark was not escaped, and what was begun is dropped; so it is where an object begins
/// in no place for one. Holds one object at most. Not safe for concurrent use.
class ObjectCutter {
 public:
  static constexpr std::size_t kObjectMost = std::size_t{64} << 10U;  ///< bytes; longer is garbage
  static constexpr int kDepthMost = 16;

  /// Takes bytes off the front of `bytes`; the next whole object, valid until the next call, or
  /// nothing once they are used up.
  std::optional<std::string_view> Next(std::string_view& bytes);
  /// The stream has begun anew; counts go on.
  void Restart();

  std::uint64_t line() const { return line_; }        ///< of the byte that was taken last, from 1
  std::uint64_t garbage() const { return garbage_; }  ///< stretches that were passed over
  std::uint64_t garbage_line() const { return garbage_line_; }  ///< of the first; 0: none

 private:
  /// True where the byte ends an object.
  bool Take(char byte);
  bool TakeInString(char byte);
  void Drop();

  std::string held_;
  int depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool in_garbage_ = false;
  char last_ = 0;  ///< outside strings, no space
  std::uint64_t line_ = 1;
  std::uint64_t garbage_ = 0;
  std::uint64_t garbage_line_ = 0;
};

}  // namespace ringward::ingest
