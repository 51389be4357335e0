#include "learn/data/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "learn/data/schema.h"

namespace ringward::learn {
namespace {

constexpr std::size_t kHeaderMax = 65536;

/// A float16 in the bits of an integer, so that byte order is handled as for the others.
enum class Half : std::uint16_t {};

double ToDouble(Half half) {
  const auto bits = static_cast<unsigned>(half);
  const int exponent = static_cast<int>((bits >> 10) & 31U);
  const double fraction = static_cast<double>(bits & 1023U) / 1024.0;
  double value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else {
    value = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  }
  return (bits & 0x8000U) != 0 ? -value : value;
}
double ToDouble(bool value) { return value ? 1 : 0; }
template <typename T>
double ToDouble(T value) {
  return static_cast<double>(value);
}

template <typename T>
T Load(const char* at, bool swap) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), at, sizeof(T));
  if (swap) std::reverse(bytes.begin(), bytes.end());
  if constexpr (std::is_same_v<T, bool>) {
    return bytes[0] != 0;
  } else {
    return std::bit_cast<T>(bytes);
  }
}

/// Elements i = 0 .. n-1 at raw + i * in_step (bytes) to out[i * out_step].
template <typename T>
void DecodeAs(const char* raw, std::size_t in_step, std::size_t n, bool swap, double* out,
              std::size_t out_step) {
  for (std::size_t i = 0; i < n; ++i)
    out[i * out_step] = ToDouble(Load<T>(raw + i * in_step, swap));
}

using Decoder = void (*)(const char*, std::size_t, std::size_t, bool, double*, std::size_t);

/// Null for an element type we do not read.
Decoder DecoderOf(char kind, std::size_t bytes) {
  struct Entry {
    char kind;
    std::size_t bytes;
    Decoder decode;
  };
  static constexpr std::array<Entry, 12> kDecoders = {{{'f', 2, DecodeAs<Half>},
                                                       {'f', 4, DecodeAs<float>},
                                                       {'f', 8, DecodeAs<double>},
                                                       {'b', 1, DecodeAs<bool>},
                                                       {'i', 1, DecodeAs<std::int8_t>},
                                                       {'i', 2, DecodeAs<std::int16_t>},
                                                       {'i', 4, DecodeAs<std::int32_t>},
                                                       {'i', 8, DecodeAs<std::int64_t>},
                                                       {'u', 1, DecodeAs<std::uint8_t>},
                                                       {'u', 2, DecodeAs<std::uint16_t>},
                                                       {'u', 4, DecodeAs<std::uint32_t>},
                                                       {'u', 8, DecodeAs<std::uint64_t>}}};
  for (const Entry& entry : kDecoders) {
    if (entry.kind == kind && entry.bytes == bytes) return entry.decode;
  }
  return nullptr;
}

template <typename T>
std::string DigitsIfRounded(const char* raw, bool swap) {
  constexpr int kExactBits = std::numeric_limits<double>::digits;
  const T value = Load<T>(raw, swap);
  const auto bits = static_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = value < 0 ? ~bits + 1 : bits;
  if (static_cast<int>(std::bit_width(magnitude)) - std::countr_zero(magnitude) <= kExactBits) {
    return {};
  }
  return std::to_string(value);
}

using DigitsFinder = std::string (*)(const char*, bool);

/// Null for element types that a double always holds.
DigitsFinder DigitsFinderOf(char kind, std::size_t bytes) {
  if (bytes < 8) return nullptr;
  if (kind == 'i') return DigitsIfRounded<std::int64_t>;
  return kind == 'u' ? DigitsIfRounded<std::uint64_t> : nullptr;
}

/// The text behind `'key':` in the header's dictionary, without leading blanks.
std::optional<std::string_view> ValueOf(std::string_view text, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = quote + std::string(key) + quote;
    const std::size_t at = text.find(quoted);
    if (at == std::string_view::npos) continue;
    std::string_view rest = text.substr(at + quoted.size());
    const std::size_t colon = rest.find_first_not_of(' ');
    if (colon == std::string_view::npos || rest[colon] != ':') return std::nullopt;
    rest.remove_prefix(colon + 1);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    return rest;
  }
  return std::nullopt;
}

/// `(3, 4)`, `(3,)` or `()`: the numbers, or nothing when it is none of these.
std::optional<std::vector<std::size_t>> ParseShape(std::string_view text) {
  if (!text.starts_with('(')) return std::nullopt;
  const std::size_t close = text.find(')');
  if (close == std::string_view::npos) return std::nullopt;
  std::vector<std::size_t> shape;
  const char* p = text.data() + 1;
  const char* const end = text.data() + close;
  while (p < end) {
    if (*p == ' ' || *p == ',') {
      ++p;
      continue;
    }
    std::size_t value = 0;
    const auto [stop, error] = std::from_chars(p, end, value);
    if (error != std::errc()) return std::nullopt;
    shape.push_back(value);
    p = stop;
  }
  return shape;
}

Status ParseType(std::string_view value, const std::string& where, NpyHeader& header) {
  const char quote = value.empty() ? '\0' : value.front();
  const std::size_t close = value.find(quote, 1);
  if ((quote != '\'' && quote != '"') || close == std::string_view::npos) {
    return Error(Code::kInvalidInput, where + " has a structured type, not numbers");
  }
  const std::string_view type = value.substr(1, close - 1);
  const Error unknown(Code::kInvalidInput, where + " has the element type " + Quoted(type) +
                                               ", which is not a number this program reads");
  if (type.size() < 3) return unknown;
  header.kind = type[1];
  const auto [stop, error] =
      std::from_chars(type.data() + 2, type.data() + type.size(), header.bytes);
  if (error != std::errc() || stop != type.data() + type.size()) return unknown;
  if (std::string_view("<>|=").find(type[0]) == std::string_view::npos) return unknown;
  static_assert(std::endian::native == std::endian::little);
  header.swap = type[0] == '>';
  if (DecoderOf(header.kind, header.bytes) == nullptr) return unknown;
  return Ok();
}

}  // namespace

Result<NpyHeader> ParseNpyHeader(std::string_view text, const std::string& where) {
  const auto type = ValueOf(text, "descr");
  const auto order = ValueOf(text, "fortran_order");
  const auto shape_text = ValueOf(text, "shape");
  const auto shape = shape_text ? ParseShape(*shape_text) : std::nullopt;
  const bool is_fortran = order && order->starts_with("True");
  if (!type || !shape || !order || !(is_fortran || order->starts_with("False"))) {
    return Error(Code::kCorrupt, where + " has a damaged header");
  }
  NpyHeader header;
  RINGWARD_TRY(ParseType(*type, where, header));
  if (shape->empty() || shape->size() > 2) {
    return Error(Code::kInvalidInput, where + " has " + std::to_string(shape->size()) +
                                          " dimensions where 1 or 2 are expected");
  }
  header.dimensions = static_cast<int>(shape->size());
  header.rows = (*shape)[0];
  header.cols = header.dimensions == 2 ? (*shape)[1] : 1;
  header.fortran = is_fortran && header.dimensions == 2;
  if (header.rows == 0 || header.cols == 0) {
    return Error(Code::kInvalidInput, where + " has no " + (header.rows == 0 ? "rows" : "columns"));
  }
  const std::size_t row_max = std::numeric_limits<std::size_t>::max() / 2 / header.bytes;
  if (header.cols > row_max || header.rows > row_max / header.cols) {
    return Error(Code::kCorrupt, where + " claims an impossible shape");
  }
  return header;
}

Result<std::unique_ptr<NpyArray>> NpyArray::Open(std::unique_ptr<io::ByteSource> source,
                                                 std::string where) {
  std::unique_ptr<NpyArray> array(new NpyArray(std::move(source), std::move(where)));
  RINGWARD_TRY(array->ReadHeader());
  return array;
}

Status NpyArray::ReadHeader() {
  std::array<char, 12> start{};
  RINGWARD_TRY(source_.ReadExactly(std::span(start).first(10)));
  const auto byte = [&](std::size_t i) {
    return std::size_t{static_cast<unsigned char>(start[i])};
  };
  if (!std::string_view(start.data(), 6).starts_with("\x93NUMPY") || byte(6) < 1 || byte(6) > 3) {
    return Error(Code::kCorrupt, where_ + " is no NPY array of a version this program reads");
  }
  std::size_t length = byte(8) | byte(9) << 8;
  if (byte(6) > 1) {
    RINGWARD_TRY(source_.ReadExactly(std::span(start).subspan(10)));
    length |= byte(10) << 16 | byte(11) << 24;
  }
  if (length > kHeaderMax) return Error(Code::kCorrupt, where_ + " claims a header above 64 KiB");
  std::string text(length, '\0');
  RINGWARD_TRY(source_.ReadExactly(text));
  RINGWARD_ASSIGN(header_, ParseNpyHeader(text, where_));
  return Ok();
}

Status NpyArray::LoadAll() {
  constexpr std::size_t kStep = std::size_t{1} << 20;
  const std::size_t total = header_.rows * header_.cols * header_.bytes;
  while (raw_.size() < total) {
    const std::size_t before = raw_.size();
    const std::size_t step = std::min(total - before, std::max(kStep, before));
    raw_.resize(before + step);
    RINGWARD_TRY(source_.ReadExactly(std::span(raw_).subspan(before)));
  }
  return Ok();
}

/// Of an element among those in raw_; `row` counts from the first of them.
const char* NpyArray::ElementOf(std::size_t row, std::size_t col) const {
  const std::size_t at = header_.fortran ? col * header_.rows + row : row * header_.cols + col;
  return raw_.data() + at * header_.bytes;
}

Status NpyArray::ReadRows(std::size_t rows, std::size_t stride, std::span<double> out,
                          std::vector<LongInteger>& rounded) {
  rounded.clear();
  RINGWARD_CHECK(rows <= rows_left() && stride >= header_.cols);
  if (rows == 0) return Ok();
  RINGWARD_CHECK(out.size() >= (rows - 1) * stride + header_.cols);
  const Decoder decode = DecoderOf(header_.kind, header_.bytes);
  if (header_.fortran) {
    if (next_ == 0) RINGWARD_TRY(LoadAll());
    for (std::size_t c = 0; c < header_.cols; ++c) {
      decode(ElementOf(next_, c), header_.bytes, rows, header_.swap, out.data() + c, stride);
    }
  } else {
    raw_.resize(rows * header_.cols * header_.bytes);
    RINGWARD_TRY(source_.ReadExactly(raw_));
    for (std::size_t r = 0; r < rows; ++r) {
      decode(ElementOf(r, 0), header_.bytes, header_.cols, header_.swap, out.data() + r * stride,
             1);
    }
  }
  if (const DigitsFinder find = DigitsFinderOf(header_.kind, header_.bytes)) {
    const std::size_t first = header_.fortran ? next_ : 0;
    for (std::size_t i = 0; i < rows * header_.cols; ++i) {
      const std::size_t row = i / header_.cols;
      const std::size_t col = i % header_.cols;
      std::string digits = find(ElementOf(first + row, col), header_.swap);
      if (!digits.empty()) rounded.push_back({row, col, std::move(digits)});
    }
  }
  next_ += rows;
  // One byte past the end makes the source check its length and checksum.
  if (rows_left() == 0) RINGWARD_TRY(source_.Peek(1));
  return Ok();
}

}  // namespace ringward::learn
