#include "learn/score/neighbours.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace ringward::learn {
namespace {

/// Products of single precision order close neighbours only roughly: this many more than k are
/// taken, measured exactly, and the k nearest of them kept.
constexpr int kSpare = 8;
constexpr std::size_t kRowsAtOnce = 64;

}  // namespace

Neighbours::Neighbours(Matrix references, int k)
    : references_(std::move(references)),
      k_(std::clamp(k, 1, std::max(1, static_cast<int>(references_.rows) - 1))) {
  RINGWARD_CHECK(references_.rows >= 1);
  for (std::size_t i = 0; i < references_.rows; ++i) {
    const auto row = references_.Row(i);
    norms_.push_back(std::inner_product(row.begin(), row.end(), row.begin(), 0.0F));
  }
}

double Neighbours::SquaredDistance(const float* x, std::size_t reference) const {
  const float* row = references_.values.data() + reference * references_.cols;
  double sum = 0.0;
  for (std::size_t j = 0; j < references_.cols; ++j) {
    const double difference = static_cast<double>(x[j]) - static_cast<double>(row[j]);
    sum += difference * difference;
  }
  return sum;
}

void Neighbours::NearestOf(const float* x, const float* products, std::int32_t own,
                           std::vector<std::int32_t>& nearest) const {
  nearest.clear();
  for (std::size_t r = 0; r < references_.rows; ++r) {
    if (static_cast<std::int32_t>(r) != own) nearest.push_back(static_cast<std::int32_t>(r));
  }
  if (nearest.empty()) return;
  const auto rough = [&](std::int32_t r) {
    const auto i = static_cast<std::size_t>(r);
    return norms_[i] - 2.0F * products[i];
  };
  const auto candidates =
      std::min(nearest.size(), static_cast<std::size_t>(k_) + static_cast<std::size_t>(kSpare));
  std::nth_element(
      nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(candidates) - 1, nearest.end(),
      [&](auto a, auto b) { return rough(a) != rough(b) ? rough(a) < rough(b) : a < b; });
  std::vector<std::pair<double, std::int32_t>> exact;
  for (std::size_t i = 0; i < candidates; ++i) {
    exact.emplace_back(SquaredDistance(x, static_cast<std::size_t>(nearest[i])), nearest[i]);
  }
  std::sort(exact.begin(), exact.end());
  nearest.clear();
  for (std::size_t i = 0; i < std::min(candidates, static_cast<std::size_t>(k_)); ++i) {
    nearest.push_back(exact[i].second);
  }
}

void Neighbours::Distances(std::span<const float> x, std::size_t rows,
                           std::span<const std::int32_t> own, std::span<double> out) const {
  const std::size_t width = references_.cols;
  RINGWARD_CHECK(x.size() == rows * width && out.size() == rows);
  std::vector<float> products(kRowsAtOnce * references_.rows);
  std::vector<std::int32_t> nearest;
  for (std::size_t first = 0; first < rows; first += kRowsAtOnce) {
    const std::size_t count = std::min(kRowsAtOnce, rows - first);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(count),
                static_cast<int>(references_.rows), static_cast<int>(width), 1.0F,
                x.data() + first * width, static_cast<int>(width), references_.values.data(),
                static_cast<int>(width), 0.0F, products.data(), static_cast<int>(references_.rows));
    for (std::size_t i = 0; i < count; ++i) {
      const float* row = x.data() + (first + i) * width;
      const std::int32_t self = own.empty() ? -1 : own[first + i];
      NearestOf(row, products.data() + i * references_.rows, self, nearest);
      double sum = 0.0;
      for (const auto r : nearest) sum += SquaredDistance(row, static_cast<std::size_t>(r));
      const double terms = static_cast<double>(std::max<std::size_t>(1, nearest.size()) * width);
      out[first + i] = sum / terms;
    }
  }
}

}  // namespace ringward::learn
