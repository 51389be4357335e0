#include "ingest/step_csv/clock_text.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>

namespace ringward::ingest {
namespace {

/// Takes texts apart from left to right.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  /// A number of exactly `digits` digits.
  std::optional<int> Digits(std::size_t digits) {
    int value = 0;
    if (text_.size() < digits) return std::nullopt;
    const char* const end = text_.data() + digits;
    const auto [rest, error] = std::from_chars(text_.data(), end, value);
    if (error != std::errc() || rest != end || text_.front() == '-') return std::nullopt;
    text_.remove_prefix(digits);
    return value;
  }
  /// Whether one of `wanted` comes next, which is taken; '\0' where it does not.
  char Take(std::string_view wanted) {
    if (text_.empty() || wanted.find(text_.front()) == std::string_view::npos) return '\0';
    const char taken = text_.front();
    text_.remove_prefix(1);
    return taken;
  }
  bool TakeWord(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  /// Digits behind the point as a fraction of 1.
  double Fraction() {
    double value = 0.0;
    for (double weight = 0.1; !text_.empty() && text_.front() >= '0' && text_.front() <= '9';
         weight /= 10.0, text_.remove_prefix(1)) {
      value += weight * (text_.front() - '0');
    }
    return value;
  }
  bool AtEnd() const { return text_.empty(); }

 private:
  std::string_view text_;
};

/// Days of the date in seconds.
std::optional<double> ReadDate(Reader& reader) {
  const auto year = reader.Digits(4);
  const char mark = reader.Take("-/");
  const auto month = reader.Digits(2);
  if (!year || mark == '\0' || !month || reader.Take({&mark, 1}) == '\0') return std::nullopt;
  const auto day = reader.Digits(2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return 86400.0 * static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

std::optional<double> ReadTimeOfDay(Reader& reader) {
  const auto hour = reader.Digits(2);
  if (!hour || reader.Take(":") == '\0') return std::nullopt;
  const auto minute = reader.Digits(2);
  if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
  double seconds = 3600.0 * *hour + 60.0 * *minute;
  if (reader.Take(":") == '\0') return seconds;
  const auto second = reader.Digits(2);
  if (!second || *second > 60) return std::nullopt;
  seconds += *second;
  if (reader.Take(".,") != '\0') seconds += reader.Fraction();
  return seconds;
}

/// Seconds that the zone is ahead of UTC.
std::optional<double> ReadZone(Reader& reader) {
  if (reader.AtEnd() || reader.TakeWord("Z") || reader.TakeWord("z") || reader.TakeWord("UTC") ||
      reader.TakeWord("GMT")) {
    return 0.0;
  }
  const char sign = reader.Take("+-");
  const auto hours = reader.Digits(2);
  if (sign == '\0' || !hours) return std::nullopt;
  int minutes = 0;
  if (!reader.AtEnd()) {
    reader.Take(":");
    const auto more = reader.Digits(2);
    if (!more) return std::nullopt;
    minutes = *more;
  }
  if (*hours > 14 || minutes > 59) return std::nullopt;
  return (sign == '-' ? -1.0 : 1.0) * (3600.0 * *hours + 60.0 * minutes);
}

}  // namespace

std::optional<double> ParseClock(std::string_view text) {
  Reader reader(text);
  const auto date = ReadDate(reader);
  if (!date) return std::nullopt;
  if (reader.AtEnd()) return date;
  if (reader.Take("Tt ") == '\0') return std::nullopt;
  const auto time = ReadTimeOfDay(reader);
  if (!time) return std::nullopt;
  reader.Take(" ");
  const auto zone = ReadZone(reader);
  if (!zone || !reader.AtEnd()) return std::nullopt;
  return *date + *time - *zone;
}

double ClockUnit(double typical) {
  // Seconds reach 1e11 in the year 5138; milliseconds were there in 1973.
  if (typical < 1e11) return 1.0;
  if (typical < 1e14) return 1e-3;
  return typical < 1e17 ? 1e-6 : 1e-9;
}

}  // namespace ringward::ingest
