#include "learn/data/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <system_error>

namespace ringward::learn {
namespace {

constexpr std::array<std::string_view, 11> kMissing = {"",     "NA",   "N/A",  "NaN", "NAN", "nan",
                                                       "NULL", "null", "None", "?",   "-"};

/// Powers of ten that a double holds exactly.
constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Digits with at most one point: exact when the digits make an integer below 2^53 and the power of
/// ten is exact too, because one division then rounds once (Clinger, "How to read floating point
/// numbers accurately", PLDI 1990). Everything else is left to from_chars.
bool ParseSimple(std::string_view digits, double& value) {
  if (digits.size() > 16) return false;
  std::uint64_t mantissa = 0;
  std::size_t point = digits.size();
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const unsigned digit = static_cast<unsigned char>(digits[i]) - static_cast<unsigned>('0');
    if (digit <= 9) {
      mantissa = mantissa * 10 + digit;
    } else if (digits[i] == '.' && point == digits.size()) {
      point = i;
    } else {
      return false;
    }
  }
  const bool has_point = point < digits.size();
  if (digits.size() - (has_point ? 1 : 0) == 0 || mantissa >= (std::uint64_t{1} << 53))
    return false;
  const std::size_t decimals = has_point ? digits.size() - point - 1 : 0;
  value = static_cast<double>(mantissa) / kPowers[decimals];
  return true;
}

/// from_chars does not say whether a number out of range was too large or too small.
double OutOfRange(std::string_view text) {
  const std::string copy(text);
  return std::strtod(copy.c_str(), nullptr);
}

template <typename Real>
std::string Shortest(Real value) {
  if (value == 0) return "0";  // -0 is no other level or label than 0
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

template <typename Real>
std::string Plain(Real value) {
  constexpr double kWrittenOutMax = 1e15;
  if (std::trunc(value) != value || std::fabs(value) >= kWrittenOutMax) return Shortest(value);
  return std::to_string(static_cast<std::int64_t>(value));
}

}  // namespace

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool ParseNumber(std::string_view text, double& value) {
  if (text.empty()) return false;
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  if (ParseSimple(text, value)) {
    if (negative) value = -value;
    return true;
  }
  // A second sign, and "nan" with or without a payload, are no numbers.
  if (text.empty() || text.front() == '-' || text.front() == 'n' || text.front() == 'N') {
    return false;
  }
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range && stop == end) {
    value = OutOfRange(text);
  } else if (error != std::errc() || stop != end) {
    return false;
  }
  if (negative) value = -value;
  return true;
}

CellKind ParseCell(std::string_view field, double& value) {
  field = Trimmed(field);
  if (ParseNumber(field, value)) return CellKind::kNumber;
  value = std::numeric_limits<double>::quiet_NaN();
  const bool missing =
      field.size() <= 4 && std::find(kMissing.begin(), kMissing.end(), field) != kMissing.end();
  return missing ? CellKind::kMissing : CellKind::kText;
}

bool LosesDigits(std::string_view text, double value) {
  constexpr std::size_t kDigitsExact = 15;  // below 2^53 whatever they are
  constexpr double kExactMax = 9007199254740992.0;
  if (text.size() <= kDigitsExact || std::fabs(value) < kExactMax) return false;
  if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  if (text.find_first_not_of("0123456789") != std::string_view::npos) return false;
  std::array<char, 400> held;  // a double has 309 digits at most before its point
  const int length = std::snprintf(held.data(), held.size(), "%.0f", std::fabs(value));
  return text != std::string_view(held.data(), static_cast<std::size_t>(length));
}

std::string IntegerDigits(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  return (negative ? "-" : "") + std::string(text);
}

std::string FormatNumber(double value) { return Shortest(value); }

std::string PlainNumber(double value) { return Plain(value); }
std::string PlainNumber(float value) { return Plain(value); }

std::string RoundedNumber(double value, double sd) {
  constexpr double kDigitsMin = 6;
  constexpr double kDigitsMax = 17;  // tells any two doubles apart
  const double below = std::log10(std::fabs(value)) - std::log10(sd);
  const double digits = std::isfinite(below) ? 4 + std::ceil(below) : kDigitsMin;
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%.*e",
                static_cast<int>(std::clamp(digits, kDigitsMin, kDigitsMax)) - 1, value);
  const double rounded = std::strtod(text.data(), nullptr);
  return PlainNumber(std::isfinite(rounded) ? rounded : value);
}

}  // namespace ringward::learn
