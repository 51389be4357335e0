#include "learn/score/whitening.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"

// LAPACK's Fortran interface, which OpenBLAS brings without a header.
extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dtrtri_(const char* uplo, const char* diag, const int* n, double* a, const int* lda,
             int* info);
}

namespace ringward::learn {
namespace {

/// Added to every variance, so that features a member reproduces exactly keep a finite weight.
constexpr double kVarianceFloor = 1e-9;

/// Replaces a symmetric row-major matrix by the inverse of its lower Cholesky factor.
bool InvertCholesky(std::vector<double>& a, std::size_t width) {
  const int n = static_cast<int>(width);
  int info = 0;
  // Row-major lower is column-major upper: U with a = U^T U, so L = U^T.
  dpotrf_("U", &n, a.data(), &n, &info);
  if (info != 0) return false;
  dtrtri_("U", "N", &n, a.data(), &n, &info);
  return info == 0;
}

}  // namespace

std::size_t Whitening::MomentCount(std::size_t width) {
  return width <= kFullWhiteningMax ? width * width : width;
}

Result<Whitening> Whitening::Fit(std::span<const double> moments, std::size_t width, double ridge) {
  RINGWARD_CHECK(width > 0 && moments.size() == MomentCount(width));
  if (!std::all_of(moments.begin(), moments.end(), [](double x) { return std::isfinite(x); })) {
    return Error(Code::kInvalidInput, "the residuals are not finite");
  }
  const bool full = width <= kFullWhiteningMax;
  const std::size_t stride = full ? width + 1 : 1;
  std::vector<double> a(moments.begin(), moments.end());
  double trace = 0.0;
  for (std::size_t i = 0; i < width; ++i) trace += a[i * stride];
  const double added = ridge * trace / static_cast<double>(width) + kVarianceFloor;
  for (std::size_t i = 0; i < width; ++i) a[i * stride] += added;
  std::vector<float> matrix(a.size(), 0.0F);
  if (!full) {
    std::transform(a.begin(), a.end(), matrix.begin(),
                   [](double variance) { return static_cast<float>(1.0 / std::sqrt(variance)); });
    return Whitening(std::move(matrix), width);
  }
  if (!InvertCholesky(a, width)) {
    return Error(Code::kInvalidInput, "the covariance of the residuals cannot be inverted");
  }
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      matrix[i * width + j] = static_cast<float>(a[i * width + j]);
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
  const int n = static_cast<int>(width_);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(rows), n, n, 1.0F,
              residuals.data(), n, matrix_.data(), n, 0.0F, out.data(), n);
}

}  // namespace ringward::learn
