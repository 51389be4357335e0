#include <algorithm>

#include "learn/data/category.h"
#include "learn/data/missing.h"
#include "learn/data/number.h"
#include "learn/score/model.h"

namespace ringward::learn {
namespace {

/// A level or indicator counts as present from here on: they are 0 or 1 before standardising.
constexpr double kPresent = 0.5;

std::string BucketName(int bucket) { return "bucket " + std::to_string(bucket); }

double RawValue(const Preprocessor& preprocessor, std::size_t input, float standardised) {
  const InputInfo& info = preprocessor.input_info()[input % preprocessor.width()];
  return static_cast<double>(standardised) * info.scale + info.center;
}

}  // namespace

FeatureGroups FeaturesOf(const Preprocessor& preprocessor) {
  FeatureGroups features;
  for (std::size_t i = 0; i < preprocessor.inputs(); ++i) {
    const std::size_t within = i % preprocessor.width();
    const bool same = within > 0 && preprocessor.input_info()[within].column ==
                                        preprocessor.input_info()[within - 1].column;
    if (!same) features.emplace_back();
    features.back().push_back(i);
  }
  return features;
}

std::vector<Indicator> IndicatorsOf(const Preprocessor& preprocessor) {
  std::vector<Indicator> indicators;
  for (std::size_t i = 0; i < preprocessor.inputs(); ++i) {
    const InputInfo& info = preprocessor.input_info()[i % preprocessor.width()];
    if (info.kind != InputKind::kMissing) continue;
    indicators.push_back({i, -info.center / info.scale, (1 - info.center) / info.scale});
  }
  return indicators;
}

std::vector<std::size_t> IndicatorInputs(std::span<const Indicator> indicators) {
  std::vector<std::size_t> inputs;
  for (const Indicator& indicator : indicators) inputs.push_back(indicator.input);
  return inputs;
}

std::string FeatureName(const Preprocessor& preprocessor, const std::vector<std::size_t>& feature) {
  const std::size_t first = feature.front();
  const InputInfo& info = preprocessor.input_info()[first % preprocessor.width()];
  std::string name = preprocessor.columns()[info.column].name;
  const auto rows_ago =
      static_cast<std::size_t>(preprocessor.window()) - 1 - first / preprocessor.width();
  if (rows_ago > 0) name += "[t-" + std::to_string(rows_ago) + "]";
  return name;
}

std::string SeenCell(const Block& block, std::size_t row, std::size_t slot) {
  if (IsMissingCell(block, row, slot)) return "missing";
  if (block.IsText(row, slot)) return block.Text(row, slot);
  const double number = block.Number(row, slot);
  // An array's 0.1 of 32 bits should not read 0.10000000149011612.
  const auto single = static_cast<float>(number);
  const bool is_single = block.lines.empty() && static_cast<double>(single) == number;
  return is_single ? PlainNumber(single) : PlainNumber(number);
}

std::string FeatureValue(const Preprocessor& preprocessor, const std::vector<std::size_t>& feature,
                         std::span<const float> values) {
  std::string number;
  std::size_t best = feature.size();
  double best_value = kPresent;
  for (std::size_t k = 0; k < feature.size(); ++k) {
    const InputInfo& info = preprocessor.input_info()[feature[k] % preprocessor.width()];
    if (info.kind == InputKind::kNumber) {
      if (IsMissingInput(values[k])) return "missing";
      number = preprocessor.Describe(feature[k], static_cast<double>(values[k]));
      continue;
    }
    const double raw = RawValue(preprocessor, feature[k], values[k]);
    if (raw < best_value) continue;
    best = k;
    best_value = raw;
  }
  if (best == feature.size()) return number.empty() ? "another value" : number;
  const InputInfo& info = preprocessor.input_info()[feature[best] % preprocessor.width()];
  const ColumnModel& column = preprocessor.columns()[info.column];
  if (info.kind == InputKind::kMissing) return "missing";
  if (info.kind == InputKind::kLevel) return column.levels[static_cast<std::size_t>(info.index)];
  return BucketName(info.index);
}

bool IsAsExpected(const Preprocessor& preprocessor, const std::vector<std::size_t>& feature,
                  std::span<const float> expected, const Block& block, std::size_t row,
                  std::size_t slot) {
  const InputInfo& info = preprocessor.input_info()[feature.front() % preprocessor.width()];
  const ColumnModel& column = preprocessor.columns()[info.column];
  std::string seen = SeenCell(block, row, slot);
  if (!IsMissingCell(block, row, slot)) {
    if (column.kind == ColumnKind::kOneHot) seen = LevelText(block, row, slot);
    if (column.kind == ColumnKind::kHashed) {
      seen = BucketName(HashBucket(LevelText(block, row, slot), column.buckets));
    }
  }
  return seen == FeatureValue(preprocessor, feature, expected);
}

}  // namespace ringward::learn
