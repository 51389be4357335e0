#include "learn/data/csv_dialect.h"

#include <algorithm>
#include <array>
#include <set>

#include "learn/data/number.h"

namespace ringward::learn {
namespace {

constexpr std::string_view kDelimiters = ",;\t|";

std::size_t CountOutsideQuotes(std::string_view line, char wanted) {
  std::size_t count = 0;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (c == wanted && !quoted) ++count;
  }
  return count;
}

}  // namespace

bool DelimiterIsOpen(std::string_view first) {
  return std::count_if(kDelimiters.begin(), kDelimiters.end(),
                       [&](char d) { return CountOutsideQuotes(first, d) > 0; }) > 1;
}

char SniffDelimiter(std::string_view first, std::string_view second) {
  for (const bool need_same : {true, false}) {
    char best = '\0';
    std::size_t most = 0;
    for (const char d : kDelimiters) {
      const std::size_t count = CountOutsideQuotes(first, d);
      if (need_same && CountOutsideQuotes(second, d) != count) continue;
      if (count > most) {
        best = d;
        most = count;
      }
    }
    if (best != '\0') return best;
  }
  return ',';
}

HeaderGuess GuessHeader(const std::vector<std::string>& first,
                        const std::vector<std::string>& expected) {
  const std::set<std::string_view> names(first.begin(), first.end());
  for (const std::string& name : expected) {
    if (names.contains(name)) return HeaderGuess::kYes;
  }
  double ignored = 0;
  for (const std::string& field : first) {
    const CellKind kind = ParseCell(field, ignored);
    if (kind == CellKind::kNumber || (kind == CellKind::kMissing && !Trimmed(field).empty())) {
      return HeaderGuess::kNo;
    }
  }
  return HeaderGuess::kAskSecond;
}

bool SecondMakesHeader(const std::vector<std::string>& first,
                       const std::vector<std::string>& second) {
  double ignored = 0;
  bool repeats = std::set<std::string_view>(first.begin(), first.end()).size() < first.size();
  for (std::size_t i = 0; i < second.size(); ++i) {
    if (ParseCell(second[i], ignored) != CellKind::kText) return true;
    repeats = repeats || (i < first.size() && first[i] == second[i]);
  }
  return !repeats;
}

}  // namespace ringward::learn
