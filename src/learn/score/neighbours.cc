#include "learn/score/neighbours.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace ringward::learn {
namespace {

/// Products of single precision order close neighbours only roughly: this many more than k are
/// taken, measured exactly, and the k nearest of them kept.
constexpr std::size_t kSpare = 8;
constexpr std::size_t kRowsAtOnce = 16;  ///< whose products with all references stay in cache

/// Sets the inputs `ignored` of rows of `width` inputs to 0.
void Blank(std::span<const std::size_t> ignored, std::size_t width, std::span<float> rows) {
  for (std::size_t first = 0; first < rows.size(); first += width) {
    for (const std::size_t j : ignored) rows[first + j] = 0.0F;
  }
}

Matrix Blanked(Matrix references, std::span<const std::size_t> ignored) {
  Blank(ignored, references.cols, references.values);
  return references;
}

LinearMap Closeness(const Matrix& references) {
  RINGWARD_CHECK(references.rows >= 1);
  std::vector<float> bias;
  for (std::size_t r = 0; r < references.rows; ++r) {
    const auto row = references.Row(r);
    bias.push_back(-0.5F * std::inner_product(row.begin(), row.end(), row.begin(), 0.0F));
  }
  return {references.values, bias};
}

}  // namespace

Neighbours::Neighbours(Matrix references, int k, std::vector<std::size_t> ignored)
    : references_(Blanked(std::move(references), ignored)),
      k_(std::clamp(k, 1, std::max(1, static_cast<int>(references_.rows) - 1))),
      ignored_(std::move(ignored)),
      closeness_(Closeness(references_)) {}

double Neighbours::SquaredDistance(const float* x, std::size_t reference) const {
  const float* row = references_.values.data() + reference * references_.cols;
  double sum = 0.0;
  for (std::size_t j = 0; j < references_.cols; ++j) {
    const double difference = static_cast<double>(x[j]) - static_cast<double>(row[j]);
    sum += difference * difference;
  }
  return sum;
}

double Neighbours::MeanOfNearest(const float* x, std::span<const float> closeness, std::int32_t own,
                                 Search& search) const {
  const std::size_t others = references_.rows - (own < 0 ? 0 : 1);
  const std::size_t k = std::min(static_cast<std::size_t>(k_), others);
  std::vector<double>& distances = search.distances;
  distances.clear();
  for (const auto& entry : search.largest.Find(closeness, own, std::min(k + kSpare, others))) {
    distances.push_back(SquaredDistance(x, static_cast<std::size_t>(entry.index)));
  }
  std::sort(distances.begin(), distances.end());
  const auto last = distances.begin() + static_cast<std::ptrdiff_t>(k);
  return std::accumulate(distances.begin(), last, 0.0) /
         static_cast<double>(std::max<std::size_t>(1, k) * references_.cols);
}

void Neighbours::Distances(std::span<const float> x, std::size_t rows,
                           std::span<const std::int32_t> own, std::span<double> out) const {
  const std::size_t width = references_.cols;
  const std::size_t count = references_.rows;
  RINGWARD_CHECK(x.size() == rows * width && out.size() == rows);
  RINGWARD_CHECK(own.empty() || own.size() == rows);
  std::vector<float> blanked;
  if (!ignored_.empty()) {
    blanked.assign(x.begin(), x.end());
    Blank(ignored_, width, blanked);
    x = blanked;
  }
  std::vector<float> closeness(std::min(rows, kRowsAtOnce) * count);
  Search search;
  for (std::size_t first = 0; first < rows; first += kRowsAtOnce) {
    const std::size_t some = std::min(kRowsAtOnce, rows - first);
    closeness_.Apply(x.subspan(first * width, some * width), some,
                     std::span(closeness).first(some * count));
    for (std::size_t i = 0; i < some; ++i) {
      out[first + i] = MeanOfNearest(x.data() + (first + i) * width,
                                     std::span(closeness).subspan(i * count, count),
                                     own.empty() ? -1 : own[first + i], search);
    }
  }
}

}  // namespace ringward::learn
