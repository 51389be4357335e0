#include "learn/data/preprocessor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "learn/data/category.h"
#include "learn/data/missing.h"
#include "learn/data/number.h"

namespace ringward::learn {
namespace {

/// Standardised values are cut here even without `clip`, so that squares stay far from overflow.
constexpr double kHardClip = 1e9;

Error BadCell(const Block& block, std::size_t row, const std::string& column, std::string what) {
  return {Code::kInvalidInput,
          block.Where(row) + ": column " + Quoted(column) + ": " + std::move(what)};
}

bool InRange(double value, double low, double high) { return value >= low && value <= high; }

}  // namespace

Status Validate(const PreprocessOptions& options) {
  constexpr int kMax = 65'536;
  if (options.one_hot_max < 1 || options.one_hot_max > kMax) {
    return Error(Code::kInvalidInput, "one_hot_max: not in 1 .. 65536");
  }
  if (options.hash_buckets < 2 || options.hash_buckets > kMax) {
    return Error(Code::kInvalidInput, "hash_buckets: not in 2 .. 65536");
  }
  if (!(options.unique_share > 0 && options.unique_share <= 1)) {
    return Error(Code::kInvalidInput, "unique_share: not in (0, 1]");
  }
  if (!InRange(options.clip, 0, kHardClip)) {
    return Error(Code::kInvalidInput, "clip: not in 0 .. 1e9");
  }
  return Ok();
}

void TransformCounts::Add(const TransformCounts& other) {
  rows += other.rows;
  const auto add = [](std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
    to.resize(std::max(to.size(), from.size()));
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
  };
  add(missing, other.missing);
  add(unseen, other.unseen);
  add(outside_range, other.outside_range);
}

void Preprocessor::LayOutInputs() {
  inputs_.clear();
  first_input_.clear();
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const ColumnModel& column = columns_[c];
    first_input_.push_back(inputs_.size());
    if (column.kind == ColumnKind::kDropped) continue;
    if (column.kind == ColumnKind::kNumeric) inputs_.push_back({c, InputKind::kNumber});
    for (std::size_t i = 0; i < column.levels.size(); ++i) {
      inputs_.push_back({c, InputKind::kLevel, static_cast<int>(i)});
    }
    for (int i = 0; i < column.buckets; ++i) inputs_.push_back({c, InputKind::kBucket, i});
    if (column.has_missing) inputs_.push_back({c, InputKind::kMissing});
  }
}

float Preprocessor::Standardised(std::size_t input, double raw) const {
  const InputInfo& info = inputs_[input];
  // Halves, because the difference of two doubles of opposite sign may overflow.
  const double value = 2 * ((raw / 2 - info.center / 2) / info.scale);
  const bool is_number = info.kind == InputKind::kNumber;
  const double bound = is_number && clip_ > 0 ? clip_ : kHardClip;
  return static_cast<float>(std::clamp(value, -bound, bound));
}

std::string Preprocessor::InputName(std::size_t i) const {
  RINGWARD_CHECK(i < inputs());
  const InputInfo& info = inputs_[i % width()];
  const ColumnModel& column = columns_[info.column];
  std::string name = column.name;
  if (info.kind == InputKind::kLevel) {
    name += "=" + column.levels[static_cast<std::size_t>(info.index)];
  } else if (info.kind == InputKind::kBucket) {
    name += "#" + std::to_string(info.index);
  } else if (info.kind == InputKind::kMissing) {
    name += " missing";
  }
  if (window_ == 1) return name;
  const std::size_t lag = static_cast<std::size_t>(window_) - 1 - i / width();
  return name + (lag == 0 ? "[t]" : "[t-" + std::to_string(lag) + "]");
}

double Preprocessor::ToUnits(std::size_t i, double standardised) const {
  RINGWARD_CHECK(i < inputs());
  const InputInfo& info = inputs_[i % width()];
  // In one rounding, because a step may overflow where the sum does not.
  const double value = std::fma(standardised, info.scale, info.center);
  constexpr double kMax = std::numeric_limits<double>::max();
  return std::clamp(value, -kMax, kMax);
}

std::string Preprocessor::Describe(std::size_t i, double standardised) const {
  const double value = ToUnits(i, standardised);
  const InputInfo& info = inputs_[i % width()];
  if (info.kind != InputKind::kNumber) return value >= 0.5 ? "yes" : "no";
  // Far from the mean the 24 bits of an input say less than a thousandth of the deviation.
  const double away = std::fabs(value / 2 - info.center / 2);
  return RoundedNumber(value, std::max(info.scale, away / 500));
}

Result<std::vector<std::size_t>> Preprocessor::Bind(const Schema& schema) const {
  const bool by_name = named_ && schema.named;
  std::unordered_map<std::string_view, const Column*> found;
  for (const Column& column : schema.columns) found[column.name] = &column;
  const bool whole = schema.file_columns == source_columns_.size();
  if (!by_name && !whole && schema.file_columns != columns_.size()) {
    return Error(Code::kInvalidInput, schema.file + ": has " + std::to_string(schema.file_columns) +
                                          " columns where the model was trained on " +
                                          std::to_string(source_columns_.size()) + " (" +
                                          std::to_string(columns_.size()) +
                                          " of them not a label, id or time)");
  }
  std::vector<std::size_t> slots(columns_.size(), kNoSlot);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const ColumnModel& column = columns_[c];
    const Column* source = nullptr;
    if (by_name) {
      const auto it = found.find(column.name);
      source = it == found.end() ? nullptr : it->second;
    } else {
      source = &schema.columns[whole ? column.position : c];
    }
    if (source != nullptr) slots[c] = source->slot;
    if (slots[c] != kNoSlot || column.kind == ColumnKind::kDropped) continue;
    if (source != nullptr) {
      return Error(Code::kInvalidInput, schema.file + ": column " + Quoted(column.name) +
                                            " is dropped, but the model needs it");
    }
    std::vector<std::string> names;
    for (const Column& other : schema.columns) names.push_back(other.name);
    return Error(Code::kInvalidInput, schema.file + ": no column " + Quoted(column.name) +
                                          ", which the model needs" +
                                          NearestNames(column.name, names));
  }
  return slots;
}

Status Preprocessor::TransformNumeric(const Block& block, std::size_t c, std::size_t slot,
                                      std::span<float> out, TransformCounts& counts) const {
  const ColumnModel& column = columns_[c];
  const std::size_t input = first_input_[c];
  for (std::size_t r = 0; r < block.rows; ++r) {
    const double value = block.Number(r, slot);
    const bool missing = std::isnan(value);
    if (missing) {
      if (block.IsText(r, slot) && !IsMissingCell(block, r, slot)) {
        return BadCell(block, r, column.name,
                       Quoted(block.Text(r, slot)) + " is text in a numeric column");
      }
      ++counts.missing[c];
    } else if (!InRange(value, column.min, column.max)) {
      if (std::isinf(value)) return BadCell(block, r, column.name, "the value is infinite");
      ++counts.outside_range[c];
    }
    float* const row = out.data() + r * width();
    row[input] = missing ? kMissingInput : Standardised(input, value);
    if (column.has_missing) row[input + 1] = Standardised(input + 1, missing ? 1 : 0);
  }
  return Ok();
}

Status Preprocessor::TransformText(const Block& block, std::size_t c, std::size_t slot,
                                   std::span<float> out, TransformCounts& counts) const {
  const ColumnModel& column = columns_[c];
  const std::size_t first = first_input_[c];
  const std::size_t values = column.levels.size() + static_cast<std::size_t>(column.buckets);
  const std::size_t n = values + (column.has_missing ? 1 : 0);
  CategoryIndex index(column);
  std::vector<float> off(n);
  std::vector<float> on(n);
  for (std::size_t i = 0; i < n; ++i) {
    off[i] = Standardised(first + i, 0);
    on[i] = Standardised(first + i, 1);
  }
  index.StartBlock(block, slot);
  for (std::size_t r = 0; r < block.rows; ++r) {
    float* const row = out.data() + r * width() + first;
    std::copy(off.begin(), off.end(), row);
    const int at = index.Of(r);
    if (at >= 0) {
      row[at] = on[static_cast<std::size_t>(at)];
    } else if (at == CategoryIndex::kUnseen) {
      ++counts.unseen[c];
    } else {
      ++counts.missing[c];
      if (column.has_missing) row[values] = on[values];
    }
  }
  return Ok();
}

/// A dropped constant that changes deserves a word: the net cannot see it.
void Preprocessor::CountChanged(const Block& block, std::size_t c, std::size_t slot,
                                TransformCounts& counts) const {
  const ColumnModel& column = columns_[c];
  double constant = 0;
  const bool is_number = ParseNumber(column.constant, constant);
  const bool by_digits = is_number && LosesDigits(column.constant, constant);
  for (std::size_t r = 0; r < block.rows; ++r) {
    const double value = block.Number(r, slot);
    const bool by_value = is_number && !by_digits && !std::isnan(value) && !block.IsText(r, slot);
    const bool same = by_value ? value == constant : LevelText(block, r, slot) == column.constant;
    if (!same) ++counts.unseen[c];
  }
}

Status Preprocessor::Transform(const Block& block, std::span<const std::size_t> slots,
                               std::span<float> out, TransformCounts& counts) const {
  RINGWARD_CHECK(slots.size() == columns_.size() && out.size() == block.rows * width());
  counts.rows += block.rows;
  for (auto* per_column : {&counts.missing, &counts.unseen, &counts.outside_range}) {
    per_column->resize(columns_.size());
  }
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].kind == ColumnKind::kNumeric) {
      RINGWARD_TRY(TransformNumeric(block, c, slots[c], out, counts));
    } else if (columns_[c].kind != ColumnKind::kDropped) {
      RINGWARD_TRY(TransformText(block, c, slots[c], out, counts));
    } else if (slots[c] != kNoSlot && !columns_[c].constant.empty()) {
      CountChanged(block, c, slots[c], counts);
    }
  }
  return Ok();
}

}  // namespace ringward::learn
