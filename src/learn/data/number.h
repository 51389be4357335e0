#pragma once

#include <string>
#include <string_view>

namespace ringward::learn {

enum class CellKind { kNumber, kMissing, kText };

/// Reads one field without its surrounding blanks. Numbers are decimal, with an optional sign and
/// exponent, rounded to the nearest double; `inf`, `infinity` and what is too large for a double
/// give an infinity. Missing are: empty, NA, N/A, NaN, NAN, nan, NULL, null, None, ? and -.
/// `value` is NaN unless kNumber.
CellKind ParseCell(std::string_view field, double& value);

/// Whether the whole of `text` is a number (see ParseCell).
bool ParseNumber(std::string_view text, double& value);

/// The shortest text that reads back as `value`: `1`, `0.1`, `1e+300`.
std::string FormatNumber(double value);

/// `value` for people, whole numbers below 1e15 digit by digit: `1700000000`, `0.1`, `1e+300`.
/// Reads back as `value`, of the same type.
std::string PlainNumber(double value);
std::string PlainNumber(float value);

/// `value` rounded to what tells it from its neighbours in a column of standard deviation `sd`:
/// to six significant digits or more, to a thousandth of `sd` or finer. REQUIRES: finite.
std::string RoundedNumber(double value, double sd);

/// Whether `text` spells an integer, by digits alone, that its double `value` does not hold
/// exactly: beyond 2^53 several integers share one double, so names and labels compare by their
/// digits.
bool LosesDigits(std::string_view text, double value);
/// One spelling for each such integer: without a plus sign and leading zeros.
std::string IntegerDigits(std::string_view text);

/// `text` without blanks and tabs at its ends.
std::string_view Trimmed(std::string_view text);

}  // namespace ringward::learn
