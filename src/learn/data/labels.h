#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learn/data/block.h"
#include "learn/data/schema.h"

namespace ringward::learn {

/// Says which label values are normal: `--normal`, by default 0, false and normal in any case.
/// Two numbers are equal by value (0 is 0.0), other texts, and integers that a double does not
/// hold, letter by letter.
class NormalValues {
 public:
  explicit NormalValues(const std::vector<std::string>& values);
  bool Contains(std::string_view label) const;
  /// The values in one line, for messages.
  std::string Describe() const;

 private:
  std::vector<std::string> values_;
  bool any_case_;
};

enum class RowLabel : std::int8_t { kNormal = 0, kAnomaly = 1, kMissing = -1 };

/// The label of every row of `block`. REQUIRES: `slot` is a slot of the block.
std::vector<RowLabel> LabelsOf(const Block& block, std::size_t slot, const NormalValues& normal);

}  // namespace ringward::learn
