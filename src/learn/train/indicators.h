#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "learn/data/window.h"
#include "learn/dense/plan.h"
#include "learn/score/model.h"

namespace ringward::learn {

/// Keeps nets from seeing the indicators by zeroing the weights that lead from them into the first
/// layers; to be called after every change of the parameters. The nets still have them as outputs,
/// so they learn which cells are missing when.
///
/// Weights of an input that is nearly always 0 are hardly ever trained: where it is 1, they shift
/// everything the net makes of the row.
void HideIndicators(std::span<const Indicator> indicators, Plan& plan);

/// Bounds the weight that whitening gives to indicators.
///
/// An indicator that is on in a share p of the rows and cannot be foretold leaves residuals of the
/// variance p (1-p): whitened, its being on has the squared length (1-p) / p, and one empty cell in
/// a thousand outweighs all else in its row. With what is added here that length is 1, what the
/// value would have had on average: a row with empty cells scores like one without. The same goes
/// for a cell that is there though it is nearly always missing. What the nets do foretell keeps its
/// weight, so that a cell counts that is missing where it never was.
class IndicatorBounds {
 public:
  /// `rows` are the training rows that the residuals are of.
  IndicatorBounds(std::span<const Indicator> indicators, const WindowedRows& data,
                  std::span<const std::uint32_t> rows);

  /// What is to be added to each input's variance, given the second moments (as Whitening::Fit
  /// wants them) of the residuals of one member; 0 for all but indicators.
  std::vector<double> Added(std::span<const double> moments) const;

 private:
  struct Bound {
    std::size_t input;
    double unforeseen;  ///< variance that one row not as foretold makes
    double factor;      ///< from the variance p (1-p) to that which gives the length 1
  };
  std::size_t inputs_;
  std::vector<Bound> bounds_;
};

}  // namespace ringward::learn
