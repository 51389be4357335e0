#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "learn/dense/plan.h"

namespace ringward::learn {

/// Inputs of rows, one list a row.
using InputLists = std::vector<std::vector<std::size_t>>;

/// What trained nets expect of some inputs of a row given its others: their reconstruction, put in
/// and reconstructed again. A row's result does not depend on the rows around it. Not safe for
/// concurrent use: it works in the plan's buffers.
class Expectation {
 public:
  /// `plan` must outlive the object; at most `batch_max` rows are handed to it at once.
  Expectation(Plan& plan, std::size_t batch_max);

  /// Replaces the inputs unknown[i] of row i of `rows` [unknown.size(), inputs] by what the
  /// noisiest members expect, who trust a single value least. All values must be finite.
  void Replace(std::span<const std::vector<std::size_t>> unknown, std::span<float> rows);

  /// Puts what is expected of them into the missing inputs (learn/data/missing.h) of `x`
  /// [rows, inputs]. Rows that miss nothing stay as they are and cost nothing.
  void FillMissing(std::span<float> x, std::size_t rows);

 private:
  /// Puts the mean output of `members` in the place of each unknown input.
  void Round(std::span<const std::vector<std::size_t>> unknown,
             const std::vector<std::size_t>& members, std::span<float> rows);

  Plan& plan_;
  const std::size_t batch_max_;
  const std::size_t inputs_;
  std::vector<std::vector<std::size_t>> levels_;  // members of equal noise, the noisiest first
  std::vector<float> outputs_;  // [members, batch, inputs], made when first needed
};

}  // namespace ringward::learn
