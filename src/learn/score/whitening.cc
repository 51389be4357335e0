#include "learn/score/whitening.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace ringward::learn {
namespace {

/// Added to every variance, so that features a member reproduces exactly keep a finite weight.
constexpr double kVarianceFloor = 1e-9;

/// In four partial sums, whose additions need not wait for one another.
double Dot(const double* a, const double* b, std::size_t count) {
  constexpr std::size_t kSums = 4;
  double sums[kSums] = {};
  std::size_t k = 0;
  for (; k + kSums <= count; k += kSums) {
    for (std::size_t l = 0; l < kSums; ++l) sums[l] += a[k + l] * b[k + l];
  }
  for (; k < count; ++k) sums[0] += a[k] * b[k];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Replaces the lower triangle of a row-major matrix A by that of its Cholesky factor L, A = L L^T;
/// false when A is not positive definite.
bool FactorCholesky(std::vector<double>& a, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) {
    double* row = a.data() + i * width;
    for (std::size_t j = 0; j <= i; ++j) {
      const double* other = a.data() + j * width;
      const double rest = row[j] - Dot(row, other, j);
      if (j < i) {
        row[j] = rest / other[j];
      } else if (rest > 0.0) {
        row[i] = std::sqrt(rest);
      } else {
        return false;
      }
    }
  }
  return true;
}

/// Inverts the lower triangle of a row-major matrix into the upper one, which holds the transpose
/// of the inverse then: both factors of every sum lie in rows. The diagonal becomes the inverse's.
void InvertLowerTriangle(std::vector<double>& a, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) {
    double* row = a.data() + i * width;
    const double diagonal = 1.0 / row[i];
    for (std::size_t j = 0; j < i; ++j) {
      double* column = a.data() + j * width;  // j of the inverse, known down to row i - 1
      column[i] = -diagonal * Dot(row + j, column + j, i - j);
    }
    row[i] = diagonal;
  }
}

}  // namespace

Whitening::Whitening(std::vector<float> matrix, std::size_t width)
    : matrix_(std::move(matrix)), width_(width) {
  if (matrix_.size() != width) map_.emplace(matrix_, std::vector<float>(width, 0.0F));
}

std::size_t Whitening::MomentCount(std::size_t width) {
  return width <= kFullWhiteningMax ? width * width : width;
}

Result<Whitening> Whitening::Fit(std::span<const double> moments, std::size_t width, double ridge,
                                 std::span<const double> added) {
  RINGWARD_CHECK(width > 0 && moments.size() == MomentCount(width));
  RINGWARD_CHECK(added.empty() || added.size() == width);
  if (!std::all_of(moments.begin(), moments.end(), [](double x) { return std::isfinite(x); })) {
    return Error(Code::kInvalidInput, "the residuals are not finite");
  }
  const bool full = width <= kFullWhiteningMax;
  const std::size_t stride = full ? width + 1 : 1;
  std::vector<double> a(moments.begin(), moments.end());
  double trace = 0.0;
  for (std::size_t i = 0; i < width; ++i) trace += a[i * stride];
  const double everywhere = ridge * trace / static_cast<double>(width) + kVarianceFloor;
  for (std::size_t i = 0; i < width; ++i) {
    a[i * stride] += everywhere + (added.empty() ? 0.0 : added[i]);
  }
  std::vector<float> matrix(a.size(), 0.0F);
  if (!full) {
    std::transform(a.begin(), a.end(), matrix.begin(),
                   [](double variance) { return static_cast<float>(1.0 / std::sqrt(variance)); });
    return Whitening(std::move(matrix), width);
  }
  if (!FactorCholesky(a, width)) {
    return Error(Code::kInvalidInput, "the covariance of the residuals cannot be inverted");
  }
  InvertLowerTriangle(a, width);
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      matrix[i * width + j] = static_cast<float>(a[j * width + i]);
    }
  }
  return Whitening(std::move(matrix), width);
}

Result<Whitening> Whitening::FromMatrix(std::vector<float> matrix, std::size_t width) {
  if (width == 0 || matrix.size() != MomentCount(width)) {
    return Error(Code::kCorrupt, "a whitening matrix has the wrong size");
  }
  if (!std::all_of(matrix.begin(), matrix.end(), [](float x) { return std::isfinite(x); })) {
    return Error(Code::kCorrupt, "a whitening matrix is not finite");
  }
  return Whitening(std::move(matrix), width);
}

void Whitening::Apply(std::span<const float> residuals, std::size_t rows,
                      std::span<float> out) const {
  RINGWARD_CHECK(residuals.size() == rows * width_ && out.size() == residuals.size());
  if (!full()) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = residuals[i] * matrix_[i % width_];
    return;
  }
  map_->Apply(residuals, rows, out);
}

}  // namespace ringward::learn
