#include <fmt/format.h>

#include <charconv>
#include <chrono>

#include "learn/simulate/table.h"

namespace ringward::learn {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month_day;

/// Reads the digits text[at, at + count); -1 when they are something else.
int Digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  const char* const first = text.data() + at;
  const auto [end, error] = std::from_chars(first, first + count, value);
  return error == std::errc{} && end == first + count && *first != '-' ? value : -1;
}

/// True where `text` has the punctuation of `shape`, in which 0 stands for any character.
bool HasShape(std::string_view text, std::string_view shape) {
  if (text.size() != shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != '0' && shape[i] != text[i]) return false;
  }
  return true;
}

}  // namespace

Result<std::int64_t> ParseUtc(std::string_view text) {
  const Error refused(Code::kInvalidInput,
                      fmt::format("got '{}', expected a time like 2026-01-05T00:00:00Z", text));
  const bool with_time = HasShape(text, "0000-00-00T00:00:00Z");
  if (!with_time && !HasShape(text, "0000-00-00")) return refused;
  const int year = Digits(text, 0, 4);
  const int month = Digits(text, 5, 2);
  const int day = Digits(text, 8, 2);
  const int hour = with_time ? Digits(text, 11, 2) : 0;
  const int minute = with_time ? Digits(text, 14, 2) : 0;
  const int second = with_time ? Digits(text, 17, 2) : 0;
  if (year < 1970 || month < 1 || day < 1) return refused;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) {
    return refused;
  }
  const year_month_day date(std::chrono::year(year),
                            std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return refused;
  const std::int64_t whole_days = sys_days(date).time_since_epoch().count();
  return ((whole_days * 24 + hour) * 60 + minute) * 60 + second;
}

std::string FormatUtc(std::int64_t seconds) {
  const year_month_day date(sys_days(days(seconds / 86'400)));
  const std::int64_t of_day = seconds % 86'400;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     of_day / 3600, of_day / 60 % 60, of_day % 60);
}

}  // namespace ringward::learn
