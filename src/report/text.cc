#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/utf8.h"

namespace ringward::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kMinus = "\xE2\x88\x92";        // U+2212

std::string_view Entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

bool IsControl(char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  return (byte < 0x20 && c != '\t' && c != '\n') || byte == 0x7F;
}

std::string GroupDigits(std::string digits) {
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

/// Drops the zeros that say nothing: 0.5000 -> 0.5.
void TrimZeros(std::string& number) {
  if (number.find('.') == std::string::npos) return;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
}

std::string FormatScientific(double magnitude, int digits) {
  const std::string text = fmt::format("{:.{}e}", magnitude, digits - 1);
  const std::size_t e = text.find('e');
  std::string mantissa = text.substr(0, e);
  TrimZeros(mantissa);
  return fmt::format("{}e{}", mantissa, std::stoi(text.substr(e + 1)));
}

}  // namespace

std::string EscapeHtml(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  while (!text.empty()) {
    const std::size_t length = Utf8Length(text);
    if (length == 0 || IsControl(text[0])) {
      out += kReplacement;
    } else if (const std::string_view entity = Entity(text[0]); !entity.empty()) {
      out += entity;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string EscapeJsonForScript(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    const std::string_view three = json.substr(i, 3);
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else if (three == "\xE2\x80\xA8" || three == "\xE2\x80\xA9") {
      out += three.back() == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

std::string FormatNumber(double value, int digits) {
  if (std::isnan(value)) return "\xE2\x80\x93";  // en dash
  const std::string sign(value < 0.0 ? kMinus : "");
  const double magnitude = std::abs(value);
  if (std::isinf(magnitude)) return sign + "\xE2\x88\x9E";
  if (magnitude == 0.0) return "0";
  if (magnitude < 1e-4 || magnitude >= 1e9) return sign + FormatScientific(magnitude, digits);
  const int exponent = static_cast<int>(std::floor(std::log10(magnitude)));
  std::string text = fmt::format("{:.{}f}", magnitude, std::clamp(digits - 1 - exponent, 0, 20));
  TrimZeros(text);
  const std::size_t point = std::min(text.find('.'), text.size());
  return sign + GroupDigits(text.substr(0, point)) + text.substr(point);
}

std::string FormatCount(std::size_t count) { return GroupDigits(std::to_string(count)); }

std::string FormatPercent(double share) { return FormatNumber(share * 100.0, 3) + " %"; }

std::string FormatSeconds(double seconds) {
  if (!(seconds >= 0.0) || std::isinf(seconds)) return FormatNumber(seconds);
  if (seconds < 0.001) return FormatNumber(seconds * 1e6, 3) + " µs";
  if (seconds < 1.0) return FormatNumber(seconds * 1e3, 3) + " ms";
  if (seconds < 60.0) return FormatNumber(seconds, 3) + " s";
  const auto whole = static_cast<std::uint64_t>(std::llround(std::min(seconds, 1e15)));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace ringward::report
