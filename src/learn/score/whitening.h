#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"

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
  /// of the Cholesky factor. kInvalidInput when they are not finite.
  static Result<Whitening> Fit(std::span<const double> moments, std::size_t width, double ridge);
  /// From matrix() of another; kCorrupt when its size does not fit or a value is not finite.
  static Result<Whitening> FromMatrix(std::vector<float> matrix, std::size_t width);

  /// Number of moments Fit wants for this width.
  static std::size_t MomentCount(std::size_t width);

  std::size_t width() const { return width_; }
  bool full() const { return matrix_.size() != width_; }
  /// Row-major lower-triangular [width, width], or the diagonal [width].
  const std::vector<float>& matrix() const { return matrix_; }

  /// `residuals` and `out` are [rows, width]; they must not overlap.
  void Apply(std::span<const float> residuals, std::size_t rows, std::span<float> out) const;

 private:
  Whitening(std::vector<float> matrix, std::size_t width)
      : matrix_(std::move(matrix)), width_(width) {}
  std::vector<float> matrix_;
  std::size_t width_ = 0;
};

}  // namespace ringward::learn
