#pragma once

#include <charconv>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ringward {

// Numbers, durations and sizes as text. Independent of the locale; every Format is read back to the
// same value by its Parse. A Parse takes the whole text or nothing: no blanks, no rest.

/// A whole number that fits T, with an optional sign.
template <std::integral T>
std::optional<T> ParseInteger(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A finite decimal number (`1`, `-0.5`, `1e-3`). Overflow to infinity is refused.
std::optional<double> ParseReal(std::string_view text);
/// The shortest text that is read back to the same double.
std::string FormatReal(double value);

/// A number with a unit: ns, us, ms, s, m (or min), h, d; e.g. `30s`, `1.5h`. Negative durations
/// are read (ranges refuse them); a bare number is refused, because its unit would be a guess.
std::optional<std::chrono::nanoseconds> ParseDuration(std::string_view text);
/// In the largest unit that keeps the value whole: `90s`, `2m`.
std::string FormatDuration(std::chrono::nanoseconds value);

/// A number of bytes: `4096`, `64K`, `64KiB`, `1.5G`; K, M, G, T (either case, optionally followed
/// by B or iB) are powers of 1024.
std::optional<std::uint64_t> ParseBytes(std::string_view text);
/// In the largest unit that keeps the value whole: `64MiB`.
std::string FormatBytes(std::uint64_t value);

/// `true`/`yes`/`on`/`1` and `false`/`no`/`off`/`0`.
std::optional<bool> ParseBool(std::string_view text);

/// Text from outside, made fit for one line of an error message: control characters become `\n`,
/// `\x1b` and so on, and what is longer than `max_bytes` ends in `...` (never inside a UTF-8
/// letter).
std::string Printable(std::string_view text, std::size_t max_bytes = 80);

}  // namespace ringward
