#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "learn/dense/linear_map.h"

namespace ringward::learn {

/// Widest residual that is whitened with its full covariance; above it only its variances are used,
/// because the factor grows with the square of the width.
inline constexpr std::size_t kFullWhiteningMax = 1024;

/// A linear map after which a member's training residuals have unit covariance: z = W r. The
/// squared length of z is the Mahalanobis distance of r. Immutable, safe for concurrent use.
class Whitening {
 public:
  /// From the second moments [width, width] (or, above kFullWhiteningMax, the squares [width]) of
  /// training residuals, with `ridge` times their mean added to every variance: W is the inverse
  /// of the Cholesky factor. `added` [width], where given, is what is added to
  /// each variance beside that.
  /// kInvalidInput when the moments are not finite.
  static Result<Whitening> Fit(std::span<const double> moments, std::size_t width, double ridge,
                               std::span<const double> added = {});
  /// From matrix() of another; kCorrupt when its size does not fit or a value is not finite.
  static Result<Whitening> FromMatrix(std::vector<float> matrix, std::size_t width);

  /// Number of moments Fit wants for this width.
  static std::size_t MomentCount(std::size_t width);

  std::size_t width() const { return width_; }
  bool full() const { return map_.has_value(); }
  /// Row-major lower-triangular [width, width], or the diagonal [width].
  const std::vector<float>& matrix() const { return matrix_; }

  /// `residuals` and `out` are [rows, width]; they must not overlap. A row's result does not depend
  /// on the others.
  void Apply(std::span<const float> residuals, std::size_t rows, std::span<float> out) const;

 private:
  Whitening(std::vector<float> matrix, std::size_t width);
  std::vector<float> matrix_;
  std::size_t width_ = 0;
  std::optional<LinearMap> map_;  ///< by matrix_, where that is not a diagonal
};

}  // namespace ringward::learn
