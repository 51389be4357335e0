#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learn/data/block.h"
#include "learn/data/matrix.h"
#include "learn/data/options.h"
#include "learn/data/schema.h"
#include "learn/data/table.h"

namespace ringward::learn {

enum class IndicatorScaling { kUnit, kStandard };

struct PreprocessOptions {
  int one_hot_max = 128;  ///< levels of a one-hot column at most, 1 .. 65,536; above it is hashed
  int hash_buckets = 32;  ///< inputs of a hashed column, 2 .. 65,536
  double unique_share = 0.9;  ///< a text column with more distinct values than this share of its
                              ///< rows (and more than 20) names rows and is dropped, in (0, 1]
  /// Inputs that are 0 or 1 (levels, buckets, missing indicators): left so, or standardised.
  IndicatorScaling indicators = IndicatorScaling::kUnit;
  double clip = 0.0;  ///< standardised numbers are cut to +-clip; 0 = only at +-1e9
};

/// kInvalidInput naming the field that is outside its range.
Status Validate(const PreprocessOptions& options);

enum class ColumnKind { kNumeric, kOneHot, kHashed, kDropped };

/// What training learned of one input column.
struct ColumnModel {
  std::string name;
  std::size_t position = 0;  ///< among the columns of the training file, from 0
  ColumnKind kind = ColumnKind::kNumeric;
  bool has_missing = false;  ///< missing values in training: it has an indicator input
  // Numeric columns: the training values' distribution, in the user's units.
  double mean = 0, sd = 1, median = 0, min = 0, max = 0, q01 = 0, q99 = 0;
  std::vector<std::string> levels;  ///< one-hot columns, sorted
  int buckets = 0;                  ///< hashed columns
  std::string reason;               ///< dropped columns: why
  std::string constant;             ///< dropped constant columns: the only value
};

enum class InputKind { kNumber, kMissing, kLevel, kBucket };

/// One input of the net: where it comes from and how its value was made.
/// standardised = (raw - center) / scale, where raw is 0 or 1 for all but numbers.
struct InputInfo {
  std::size_t column = 0;  ///< index into columns()
  InputKind kind = InputKind::kNumber;
  int index = 0;  ///< level or bucket
  double center = 0;
  double scale = 1;
};

/// What Transform met, per column() of the preprocessor; adds up over calls.
struct TransformCounts {
  std::uint64_t rows = 0;
  std::vector<std::uint64_t> missing;        ///< cells without a value
  std::vector<std::uint64_t> unseen;         ///< levels (or constants) training never had
  std::vector<std::uint64_t> outside_range;  ///< numbers outside [min, max] of training

  void Add(const TransformCounts& other);
};

/// Turns rows into standardised inputs, always in the way training chose. Immutable once made, so
/// safe for concurrent use.
class Preprocessor {
 public:
  /// Learns from the rows of `table` whose entry in `selected` is not 0 (empty: all rows).
  /// Fails naming file, line and column for a text or an infinite value in a numeric column;
  /// kInvalidInput when no row is selected or no column is left.
  static Result<Preprocessor> Fit(const Table& table, std::span<const std::uint8_t> selected,
                                  const DataOptions& data, const PreprocessOptions& options);
  /// Reads what ToToml wrote; kCorrupt naming `file` and the key for anything else.
  static Result<Preprocessor> FromToml(std::string_view text, const std::string& file);
  /// All of it as a TOML document; every number comes back exactly.
  std::string ToToml() const;

  /// Inputs of one row, before windows are joined.
  std::size_t width() const { return inputs_.size(); }
  /// Inputs of the net: width() * window().
  std::size_t inputs() const { return width() * static_cast<std::size_t>(window_); }
  int window() const { return window_; }
  const std::string& time() const { return time_; }
  const std::vector<ColumnModel>& columns() const { return columns_; }
  const std::vector<InputInfo>& input_info() const { return inputs_; }
  /// Sentences for the user about columns that were dropped or guessed; only after Fit.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Names of the training file's columns in order, numbers where it had no header.
  const std::vector<std::string>& source_columns() const { return source_columns_; }
  bool named() const { return named_; }

  /// Name of input `i` of the net (i < inputs()), e.g. `cpu`, `proto=tcp`, `cpu missing`,
  /// `url#3` (bucket), `cpu[t-2]`. Windows hold the oldest row first.
  std::string InputName(std::size_t i) const;
  /// A standardised value of input `i` (i < inputs()) in the user's units, finite.
  double ToUnits(std::size_t i, double standardised) const;
  /// What a value of input `i` is to the user: a number (see RoundedNumber), or the
  /// level/"missing" yes or no.
  std::string Describe(std::size_t i, double standardised) const;

  /// For each of columns(), its slot in blocks of `schema` (kNoSlot for dropped columns that are
  /// not there). By name; by position where one side has no header. A missing column is
  /// kInvalidInput naming it, the file and the nearest names.
  Result<std::vector<std::size_t>> Bind(const Schema& schema) const;

  /// Writes the inputs of all rows of `block` into `out` [block.rows, width()], kMissingInput where
  /// a number is missing; `slots` is from Bind. Fails naming file, line, column and text for a text
  /// or infinity in a numeric column.
  Status Transform(const Block& block, std::span<const std::size_t> slots, std::span<float> out,
                   TransformCounts& counts) const;

 private:
  friend class PreprocessorFit;
  friend class PreprocessorToml;
  Preprocessor() = default;
  /// Derives inputs_ (all but center and scale) and first_input_ from columns_.
  void LayOutInputs();
  Status TransformNumeric(const Block& block, std::size_t column, std::size_t slot,
                          std::span<float> out, TransformCounts& counts) const;
  Status TransformText(const Block& block, std::size_t column, std::size_t slot,
                       std::span<float> out, TransformCounts& counts) const;
  void CountChanged(const Block& block, std::size_t column, std::size_t slot,
                    TransformCounts& counts) const;
  float Standardised(std::size_t input, double raw) const;
  std::vector<ColumnModel> columns_;
  std::vector<InputInfo> inputs_;
  std::vector<std::size_t> first_input_;  ///< of each column
  std::vector<std::string> source_columns_;
  std::vector<std::string> notes_;
  std::string time_;
  bool named_ = false;
  int window_ = 1;
  double clip_ = 0;
};

}  // namespace ringward::learn
