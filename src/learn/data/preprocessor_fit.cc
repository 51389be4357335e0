#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "learn/data/category.h"
#include "learn/data/preprocessor.h"

namespace ringward::learn {
namespace {

/// A column with at most this share of texts among its values is numeric, and the texts are errors.
constexpr double kStrayTextShare = 0.01;
/// Up to this many distinct texts a column is never taken for one that names rows.
constexpr std::size_t kUniqueMin = 20;
/// Values gathered at once, so that each pass over row-major blocks serves several columns.
constexpr std::size_t kGatherBytes = std::size_t{64} << 20;
constexpr std::size_t kGatherColumns = 16;

/// A place in the table.
struct Place {
  std::size_t block = 0;
  std::size_t row = 0;
};

/// The values of one column over the selected rows.
struct Gathered {
  std::vector<double> numbers;
  std::size_t texts = 0;
  std::size_t missing = 0;
  std::optional<Place> first_text;
  std::optional<Place> first_infinity;
};

struct Moments {
  double mean = 0;
  double sd = 0;
};

/// Mean and standard deviation in two passes, on values scaled by a power of two so that squares
/// neither overflow nor vanish. REQUIRES: values not empty, finite.
Moments MomentsOf(const std::vector<double>& values) {
  double largest = 0;
  for (const double v : values) largest = std::max(largest, std::fabs(v));
  int exponent = 0;
  std::frexp(largest, &exponent);
  const auto scaled = [&](double v) { return std::ldexp(v, -exponent); };
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double v : values) sum += scaled(v);
  const double mean = sum / n;
  double squares = 0;
  for (const double v : values) squares += (scaled(v) - mean) * (scaled(v) - mean);
  return {std::ldexp(mean, exponent), std::ldexp(std::sqrt(squares / n), exponent)};
}

/// The value at share `q` of the sorted values; reorders them.
double Quantile(std::vector<double>& values, double q) {
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

/// How often each level (or bucket) occurs, and how often the value is missing.
struct LevelCounts {
  std::unordered_map<std::string, std::size_t> levels;
  std::size_t values = 0;
};

}  // namespace

/// Learns one Preprocessor from one table.
class PreprocessorFit {
 public:
  PreprocessorFit(const Table& table, std::span<const std::uint8_t> selected,
                  const DataOptions& data, const PreprocessOptions& options)
      : table_(table), selected_(selected), options_(options) {
    numeric_.insert(data.numeric.begin(), data.numeric.end());
    categorical_.insert(data.categorical.begin(), data.categorical.end());
    made_.window_ = data.window;
    made_.time_ = data.time;
    made_.clip_ = options.clip;
    made_.named_ = table.schema.named;
    for (std::size_t i = 0; i < table.schema.file_columns; ++i) {
      made_.source_columns_.push_back(table.schema.columns[i].name);
    }
  }

  Result<Preprocessor> Run() {
    RINGWARD_TRY(CheckSelection());
    std::vector<std::size_t> inputs;
    for (std::size_t i = 0; i < table_.schema.file_columns; ++i) {
      if (table_.schema.columns[i].role == Role::kInput) inputs.push_back(i);
    }
    const std::size_t fitting = kGatherBytes / sizeof(double) / std::max<std::size_t>(1, rows_);
    const std::size_t group = std::clamp<std::size_t>(fitting, 1, kGatherColumns);
    for (std::size_t first = 0; first < inputs.size(); first += group) {
      const std::size_t n = std::min(group, inputs.size() - first);
      RINGWARD_TRY(FitGroup(std::span(inputs).subspan(first, n)));
    }
    made_.LayOutInputs();
    if (made_.inputs_.empty()) {
      return Error(Code::kInvalidInput, table_.schema.file +
                                            ": no column is left to learn from: all are constant, "
                                            "dropped or without a value");
    }
    SetScales();
    return std::move(made_);
  }

 private:
  bool Selected(std::size_t row) const { return selected_.empty() || selected_[row] != 0; }

  Status CheckSelection() {
    rows_ = selected_.empty() ? table_.rows : 0;
    for (const std::uint8_t s : selected_) rows_ += s != 0 ? 1 : 0;
    RINGWARD_CHECK(selected_.empty() || selected_.size() == table_.rows);
    if (rows_ > 0) return Ok();
    return Error(Code::kInvalidInput, table_.schema.file + ": no row to learn from");
  }

  std::vector<Gathered> Gather(std::span<const std::size_t> columns) const {
    std::vector<Gathered> all(columns.size());
    for (Gathered& one : all) one.numbers.reserve(rows_);
    for (std::size_t b = 0; b < table_.blocks.size(); ++b) {
      const Block& block = table_.blocks[b];
      for (std::size_t r = 0; r < block.rows; ++r) {
        if (!Selected(block.first_row + r)) continue;
        for (std::size_t i = 0; i < columns.size(); ++i) {
          GatherCell(block, {b, r}, table_.schema.columns[columns[i]].slot, all[i]);
        }
      }
    }
    return all;
  }

  static void GatherCell(const Block& block, Place place, std::size_t slot, Gathered& to) {
    const double value = block.Number(place.row, slot);
    if (!std::isnan(value)) {
      to.numbers.push_back(value);
      if (std::isinf(value) && !to.first_infinity) to.first_infinity = place;
    } else if (block.IsText(place.row, slot)) {
      ++to.texts;
      if (!to.first_text) to.first_text = place;
    } else {
      ++to.missing;
    }
  }

  Status FitGroup(std::span<const std::size_t> columns) {
    std::vector<Gathered> all = Gather(columns);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Column& source = table_.schema.columns[columns[i]];
      ColumnModel column;
      column.name = source.name;
      column.position = columns[i];
      column.has_missing = all[i].missing > 0;
      if (all[i].numbers.empty() && all[i].texts == 0) {
        Drop(column, "it has no value");
      } else if (IsNumeric(source.name, all[i])) {
        RINGWARD_TRY(FitNumeric(source, all[i], column));
      } else {
        FitText(source, all[i], column);
      }
      made_.columns_.push_back(std::move(column));
    }
    return Ok();
  }

  bool IsNumeric(const std::string& name, const Gathered& values) {
    if (numeric_.contains(name)) return true;
    if (categorical_.contains(name)) return false;
    const std::size_t all = values.texts + values.numbers.size();
    const bool numeric =
        static_cast<double>(values.texts) <= kStrayTextShare * static_cast<double>(all);
    if (!numeric && !values.numbers.empty()) {
      made_.notes_.push_back(
          "column " + Quoted(name) + " is taken as categorical: " + std::to_string(values.texts) +
          " of " + std::to_string(all) + " values are text (--numeric makes them errors)");
    }
    return numeric;
  }

  void Drop(ColumnModel& column, std::string reason) {
    made_.notes_.push_back("column " + Quoted(column.name) + " is left out: " + reason);
    column.kind = ColumnKind::kDropped;
    column.has_missing = false;
    column.reason = std::move(reason);
  }

  Error BadCell(Place place, const Column& source, std::string_view what) const {
    const Block& block = table_.blocks[place.block];
    return {Code::kInvalidInput,
            block.Where(place.row) + ": column " + Quoted(source.name) + ": " + std::string(what)};
  }

  Status FitNumeric(const Column& source, Gathered& values, ColumnModel& column) {
    if (values.first_text) {
      const Place at = *values.first_text;
      const std::string text = table_.blocks[at.block].Text(at.row, source.slot);
      return BadCell(at, source, Quoted(text) + " is text in a numeric column");
    }
    if (values.first_infinity) {
      return BadCell(*values.first_infinity, source, "the value is infinite");
    }
    std::vector<double>& numbers = values.numbers;
    const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
    column.min = *low;
    column.max = *high;
    if (column.min == column.max) {
      FitText(source, values, column);  // one value and missing ones are two levels
      return Ok();
    }
    const Moments moments = MomentsOf(numbers);
    column.mean = moments.mean;
    column.sd = moments.sd > 0 ? moments.sd : column.max - column.min;
    column.q01 = Quantile(numbers, 0.01);
    column.median = Quantile(numbers, 0.5);
    column.q99 = Quantile(numbers, 0.99);
    if (column.has_missing) AddShare(values.missing);
    return Ok();
  }

  void FitText(const Column& source, const Gathered& values, ColumnModel& column) {
    const LevelCounts counts = CountLevels(source.slot);
    const std::size_t distinct = counts.levels.size();
    const double bound = options_.unique_share * static_cast<double>(counts.values);
    const bool chosen = categorical_.contains(source.name);
    if (distinct == 1 && !column.has_missing) {
      column.constant = counts.levels.begin()->first;
      Drop(column, "it is constant (" + Quoted(column.constant) + ")");
      return;
    }
    if (!chosen && distinct > kUniqueMin && static_cast<double>(distinct) > bound) {
      Drop(column, std::to_string(distinct) + " different texts in " +
                       std::to_string(counts.values) +
                       " rows, so it names rows (--id keeps it, "
                       "--categorical uses it)");
      return;
    }
    if (distinct <= static_cast<std::size_t>(options_.one_hot_max)) {
      column.kind = ColumnKind::kOneHot;
      for (const auto& [level, count] : counts.levels) column.levels.push_back(level);
      std::sort(column.levels.begin(), column.levels.end());
    } else {
      column.kind = ColumnKind::kHashed;
      column.buckets = options_.hash_buckets;
      made_.notes_.push_back("column " + Quoted(source.name) + " has " + std::to_string(distinct) +
                             " levels, hashed into " + std::to_string(column.buckets) + " inputs");
    }
    if (values.missing == 0) column.has_missing = false;
    CountIndicators(column, source.slot);
  }

  LevelCounts CountLevels(std::size_t slot) const {
    LevelCounts counts;
    for (const Block& block : table_.blocks) {
      for (std::size_t r = 0; r < block.rows; ++r) {
        if (!Selected(block.first_row + r) || IsMissingCell(block, r, slot)) continue;
        ++counts.levels[LevelText(block, r, slot)];
        ++counts.values;
      }
    }
    return counts;
  }

  /// Shares of each level or bucket, then of missing values, in the order of the inputs.
  void CountIndicators(const ColumnModel& column, std::size_t slot) {
    std::vector<std::size_t> hits(column.levels.size() + static_cast<std::size_t>(column.buckets));
    std::size_t missing = 0;
    CategoryIndex index(column);
    for (const Block& block : table_.blocks) {
      index.StartBlock(block, slot);
      for (std::size_t r = 0; r < block.rows; ++r) {
        if (!Selected(block.first_row + r)) continue;
        const int at = index.Of(r);
        ++(at >= 0 ? hits[static_cast<std::size_t>(at)] : missing);
      }
    }
    for (const std::size_t hit : hits) AddShare(hit);
    if (column.has_missing) AddShare(missing);
  }

  /// Remembers the share of rows in which the next indicator input is 1.
  void AddShare(std::size_t rows) {
    shares_.push_back(static_cast<double>(rows) / static_cast<double>(rows_));
  }

  void SetScales() {
    std::size_t indicator = 0;
    for (InputInfo& input : made_.inputs_) {
      if (input.kind == InputKind::kNumber) {
        input.center = made_.columns_[input.column].mean;
        input.scale = made_.columns_[input.column].sd;
        continue;
      }
      const double share = shares_[indicator++];
      if (options_.indicators == IndicatorScaling::kUnit || share <= 0 || share >= 1) continue;
      input.center = share;
      input.scale = std::sqrt(share * (1 - share));
    }
    RINGWARD_CHECK(indicator == shares_.size());
  }

  const Table& table_;
  std::span<const std::uint8_t> selected_;
  const PreprocessOptions& options_;
  std::unordered_set<std::string> numeric_;
  std::unordered_set<std::string> categorical_;
  std::size_t rows_ = 0;
  std::vector<double> shares_;  ///< of every indicator input in order
  Preprocessor made_;
};

Result<Preprocessor> Preprocessor::Fit(const Table& table, std::span<const std::uint8_t> selected,
                                       const DataOptions& data, const PreprocessOptions& options) {
  RINGWARD_TRY(Validate(options));
  return PreprocessorFit(table, selected, data, options).Run();
}

}  // namespace ringward::learn
