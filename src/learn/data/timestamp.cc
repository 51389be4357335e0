#include "learn/data/timestamp.h"

#include <chrono>
#include <cmath>

#include "learn/data/number.h"

namespace ringward::learn {
namespace {

/// Takes exactly `digits` digits from the front of `text`.
std::optional<int> TakeDigits(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool Take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// Days since 1970-01-01 of `YYYY-MM-DD` (or with slashes).
std::optional<double> TakeDate(std::string_view& text) {
  const auto year = TakeDigits(text, 4);
  if (!year || !Take(text, "-/")) return std::nullopt;
  const auto month = TakeDigits(text, 2);
  if (!month || !Take(text, "-/")) return std::nullopt;
  const auto day = TakeDigits(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

/// Seconds since midnight of `HH:MM[:SS[.fraction]]`.
std::optional<double> TakeTimeOfDay(std::string_view& text) {
  const auto hours = TakeDigits(text, 2);
  if (!hours || *hours > 24 || !Take(text, ":")) return std::nullopt;
  const auto minutes = TakeDigits(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  double seconds = *hours * 3600.0 + *minutes * 60.0;
  if (!Take(text, ":")) return seconds;
  const auto whole = TakeDigits(text, 2);
  if (!whole || *whole > 60) return std::nullopt;  // 60: a leap second
  seconds += *whole;
  if (!Take(text, ".,")) return seconds;
  double unit = 0.1;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; unit /= 10) {
    seconds += unit * (text.front() - '0');
    text.remove_prefix(1);
  }
  return seconds;
}

/// Seconds east of UTC of `Z`, `+HH`, `+HHMM`, `+HH:MM` or nothing.
std::optional<double> TakeOffset(std::string_view& text) {
  if (text.empty() || Take(text, "Zz")) return 0;
  const bool west = text.front() == '-';
  if (!Take(text, "+-")) return std::nullopt;
  const auto hours = TakeDigits(text, 2);
  if (!hours || *hours > 23) return std::nullopt;
  Take(text, ":");
  const auto minutes = text.empty() ? std::optional<int>(0) : TakeDigits(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  const double seconds = *hours * 3600.0 + *minutes * 60.0;
  return west ? -seconds : seconds;
}

}  // namespace

std::optional<double> ParseTime(std::string_view text) {
  text = Trimmed(text);
  double number = 0;
  if (ParseNumber(text, number)) {
    return std::isfinite(number) ? std::optional<double>(number) : std::nullopt;
  }
  const auto days = TakeDate(text);
  if (!days) return std::nullopt;
  if (text.empty()) return *days * 86400.0;
  if (!Take(text, "Tt ")) return std::nullopt;
  const auto seconds = TakeTimeOfDay(text);
  if (!seconds) return std::nullopt;
  text = Trimmed(text);
  const auto offset = TakeOffset(text);
  if (!offset || !text.empty()) return std::nullopt;
  return *days * 86400.0 + *seconds - *offset;
}

TimeOrder::TimeOrder(const Column* column) {
  if (column == nullptr) return;
  slot_ = column->slot;
  name_ = column->name;
}

Status TimeOrder::Check(const Block& block) {
  if (!slot_) return Ok();
  for (std::size_t r = 0; r < block.rows; ++r) {
    std::string text = block.Text(r, *slot_);
    const auto time = ParseTime(text);
    if (!time) {
      return Error(Code::kInvalidInput, block.Where(r) + ": column " + Quoted(name_) + ": " +
                                            Quoted(text) +
                                            " is neither a number nor an ISO 8601 "
                                            "time");
    }
    if (block.file_index == file_ && *time < last_) {
      return Error(Code::kInvalidInput, block.Where(r) + ": column " + Quoted(name_) +
                                            ": time goes back from " + Quoted(last_text_) + " to " +
                                            Quoted(text) + "; sort the rows by time");
    }
    file_ = block.file_index;
    last_ = *time;
    last_text_ = std::move(text);
  }
  return Ok();
}

}  // namespace ringward::learn
