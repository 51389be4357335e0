#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/buffered_source.h"

namespace ringward::learn {

/// What the header of an .npy file says (format versions 1.0 to 3.0 of NumPy's NEP 1).
struct NpyHeader {
  char kind = 'f';        ///< f float, i signed, u unsigned, b bool
  std::size_t bytes = 8;  ///< of one element
  bool swap = false;      ///< big-endian (this machine is little-endian)
  bool fortran = false;   ///< columns one after another, not rows
  std::size_t rows = 0;
  std::size_t cols = 1;  ///< 1 for one dimension
  int dimensions = 1;    ///< 1 or 2
};

/// Parses the dictionary of the header, without magic and length. kInvalidInput for an element type
/// or a number of dimensions we do not read, kCorrupt for anything that is no header; messages
/// start with `where`.
Result<NpyHeader> ParseNpyHeader(std::string_view text, const std::string& where);

/// An integer of an array that no double holds (beyond 2^53), as its digits.
struct LongInteger {
  std::size_t row = 0;  ///< from 0, among the rows read at once
  std::size_t col = 0;
  std::string digits;
};

/// Reads a 1-D or 2-D array row by row as doubles; integers beyond 2^53 are rounded, and told apart
/// by their digits. Rows stream in C order; Fortran order is held in memory as it is. A shape
/// allocates nothing before its bytes are there. Not safe for concurrent use.
class NpyArray {
 public:
  /// `where` starts the messages, e.g. "data.npz: array X".
  static Result<std::unique_ptr<NpyArray>> Open(std::unique_ptr<io::ByteSource> source,
                                                std::string where);
  const NpyHeader& header() const { return header_; }
  const std::string& where() const { return where_; }
  /// Reads the next `rows` rows into `out`, row r at out[r * stride]; NaN stays NaN. `rounded`
  /// becomes the integers that `out` does not hold exactly.
  /// REQUIRES: no more rows than are left, stride >= cols, room in `out`.
  Status ReadRows(std::size_t rows, std::size_t stride, std::span<double> out,
                  std::vector<LongInteger>& rounded);
  std::size_t rows_left() const { return header_.rows - next_; }

 private:
  NpyArray(std::unique_ptr<io::ByteSource> source, std::string where)
      : source_(std::move(source)), where_(std::move(where)) {}
  Status ReadHeader();
  Status LoadAll();
  const char* ElementOf(std::size_t row, std::size_t col) const;
  io::BufferedSource source_;
  std::string where_;
  NpyHeader header_;
  std::size_t next_ = 0;
  std::vector<char> raw_;  ///< rows in flight, or the whole array in Fortran order
};

}  // namespace ringward::learn
