#include "base/text_value.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

namespace ringward {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

constexpr std::array<Unit, 8> kTimeUnits = {{{"d", 86'400'000'000'000},
                                             {"h", 3'600'000'000'000},
                                             {"m", 60'000'000'000},
                                             {"min", 60'000'000'000},
                                             {"s", 1'000'000'000},
                                             {"ms", 1'000'000},
                                             {"us", 1'000},
                                             {"ns", 1}}};
constexpr std::array<Unit, 4> kByteUnits = {{{"TiB", std::int64_t{1} << 40},
                                             {"GiB", std::int64_t{1} << 30},
                                             {"MiB", std::int64_t{1} << 20},
                                             {"KiB", std::int64_t{1} << 10}}};

/// `number` times `factor`, or nothing where the product is no whole number or too large.
std::optional<std::int64_t> Scale(std::string_view number, std::int64_t factor) {
  if (const auto whole = ParseInteger<std::int64_t>(number)) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(*whole, factor, &product)) return std::nullopt;
    return product;
  }
  const auto real = ParseReal(number);
  if (!real) return std::nullopt;
  const double product = std::round(*real * static_cast<double>(factor));
  if (!(std::abs(product) < 0x1p63)) return std::nullopt;
  return static_cast<std::int64_t>(product);
}

/// Where the unit of "1.5h" begins.
std::size_t UnitStart(std::string_view text) {
  const std::size_t last_digit = text.find_last_of("0123456789.");
  return last_digit == std::string_view::npos ? 0 : last_digit + 1;
}

std::string EscapeControl(unsigned char c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  if (c == '\r') return "\\r";
  return fmt::format("\\x{:02x}", static_cast<unsigned>(c));
}

}  // namespace

std::optional<double> ParseReal(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

std::string FormatReal(double value) { return fmt::format("{}", value); }

std::optional<std::chrono::nanoseconds> ParseDuration(std::string_view text) {
  const std::size_t cut = UnitStart(text);
  for (const Unit& unit : kTimeUnits) {
    if (text.substr(cut) != unit.name) continue;
    const auto scaled = Scale(text.substr(0, cut), unit.factor);
    if (!scaled) return std::nullopt;
    return std::chrono::nanoseconds(*scaled);
  }
  return std::nullopt;
}

std::string FormatDuration(std::chrono::nanoseconds value) {
  if (value.count() == 0) return "0s";
  for (const Unit& unit : kTimeUnits) {
    if (value.count() % unit.factor == 0) {
      return fmt::format("{}{}", value.count() / unit.factor, unit.name);
    }
  }
  return fmt::format("{}ns", value.count());
}

std::optional<std::uint64_t> ParseBytes(std::string_view text) {
  if (const auto plain = ParseInteger<std::uint64_t>(text)) return plain;
  const std::size_t cut = UnitStart(text);
  const std::string_view unit = text.substr(cut);
  for (const Unit& known : kByteUnits) {
    const bool same_letter = !unit.empty() && (unit[0] & ~0x20) == known.name[0];
    const std::string_view rest = unit.empty() ? unit : unit.substr(1);
    if (!same_letter || (!rest.empty() && rest != "B" && rest != "iB")) continue;
    const auto scaled = Scale(text.substr(0, cut), known.factor);
    if (!scaled || *scaled < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*scaled);
  }
  return std::nullopt;
}

std::string FormatBytes(std::uint64_t value) {
  for (const Unit& unit : kByteUnits) {
    const auto factor = static_cast<std::uint64_t>(unit.factor);
    // Beyond 2^63 only the plain number is read back: the units are scaled in signed arithmetic.
    if (value != 0 && value % factor == 0 && value <= INT64_MAX) {
      return fmt::format("{}{}", value / factor, unit.name);
    }
  }
  return fmt::format("{}", value);
}

std::optional<bool> ParseBool(std::string_view text) {
  for (const std::string_view yes : {"true", "yes", "on", "1"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"false", "no", "off", "0"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

std::string Printable(std::string_view text, std::size_t max_bytes) {
  bool cut = false;
  if (text.size() > max_bytes) {
    std::size_t end = max_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text = text.substr(0, end);
    cut = true;
  }
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += EscapeControl(byte);
    } else {
      out += c;
    }
  }
  if (cut) out += "...";
  return out;
}

}  // namespace ringward
