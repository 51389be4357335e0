#include <algorithm>
#include <cmath>
#include <utility>

#include "learn/data/dataset.h"
#include "learn/data/number.h"

namespace ringward::learn {
namespace {

/// A few rows outside the range of training are no drift: n new rows among m old ones hold about
/// 2n/m of them by chance.
constexpr double kShareMin = 0.01;
constexpr std::uint64_t kRowsMin = 3;

std::string Percent(double share) {
  const double percent = 100 * share;
  return FormatNumber(percent < 10 ? std::round(percent * 10) / 10 : std::round(percent)) + " %";
}

}  // namespace

std::vector<std::string> DriftWarnings(const Preprocessor& preprocessor,
                                       const TransformCounts& counts, std::size_t limit) {
  std::vector<std::pair<double, std::string>> found;
  const auto add = [&](std::uint64_t rows, const std::string& what) {
    const double share = static_cast<double>(rows) / static_cast<double>(counts.rows);
    if (rows >= kRowsMin && share >= kShareMin) {
      found.emplace_back(share, Percent(share) + " of rows have " + what);
    }
  };
  for (std::size_t c = 0; c < counts.missing.size(); ++c) {
    const ColumnModel& column = preprocessor.columns()[c];
    const std::string name = Quoted(column.name);
    if (column.kind == ColumnKind::kNumeric) {
      add(counts.outside_range[c], name + " outside the training range (" +
                                       RoundedNumber(column.min, column.sd) + " .. " +
                                       RoundedNumber(column.max, column.sd) + ")");
    } else if (column.kind == ColumnKind::kDropped) {
      add(counts.unseen[c], name + " other than its only value in training (" +
                                Quoted(column.constant) + "), which scores cannot show");
    } else {
      add(counts.unseen[c], "a value of " + name + " that training never had");
    }
    if (!column.has_missing) add(counts.missing[c], name + " missing, as it never was in training");
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> warnings;
  for (auto& [share, text] : found) {
    if (warnings.size() < limit) warnings.push_back(std::move(text));
  }
  return warnings;
}

}  // namespace ringward::learn
