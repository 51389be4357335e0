#include "learn/data/labels.h"

#include <algorithm>
#include <cctype>

#include "learn/data/number.h"

namespace ringward::learn {
namespace {

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

bool SameLabel(std::string_view a, std::string_view b, bool any_case) {
  double x = 0;
  double y = 0;
  if (ParseNumber(a, x) && ParseNumber(b, y)) {
    if (!LosesDigits(a, x) && !LosesDigits(b, y)) return x == y;
    return IntegerDigits(a) == IntegerDigits(b);
  }
  return any_case ? SameIgnoringCase(a, b) : a == b;
}

}  // namespace

NormalValues::NormalValues(const std::vector<std::string>& values)
    : values_(values), any_case_(values.empty()) {
  if (values.empty()) values_ = {"0", "false", "normal"};
}

bool NormalValues::Contains(std::string_view label) const {
  return std::any_of(values_.begin(), values_.end(), [&](const std::string& value) {
    return SameLabel(value, Trimmed(label), any_case_);
  });
}

std::string NormalValues::Describe() const {
  std::string text;
  for (const std::string& value : values_) text += (text.empty() ? "" : ", ") + Quoted(value);
  return text;
}

std::vector<RowLabel> LabelsOf(const Block& block, std::size_t slot, const NormalValues& normal) {
  RINGWARD_CHECK(slot < block.slots);
  std::vector<RowLabel> labels(block.rows);
  double ignored = 0;
  for (std::size_t r = 0; r < block.rows; ++r) {
    const std::string text = block.Text(r, slot);
    if (ParseCell(text, ignored) == CellKind::kMissing) {
      labels[r] = RowLabel::kMissing;
    } else {
      labels[r] = normal.Contains(text) ? RowLabel::kNormal : RowLabel::kAnomaly;
    }
  }
  return labels;
}

}  // namespace ringward::learn
