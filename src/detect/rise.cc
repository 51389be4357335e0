#include "detect/rise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ringward::detect {
namespace {

constexpr double kStraight = 0.1;  // scatter about the line over the growth, at most

double UpperMedian(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double TheilSen(const std::vector<double>& t, const std::vector<float>& y) {
  std::vector<double> slopes;
  for (std::size_t i = 0; i < t.size(); ++i) {
    for (std::size_t j = i + 1; j < t.size(); ++j) {
      slopes.push_back((static_cast<double>(y[j]) - static_cast<double>(y[i])) /
                       std::max(t[j] - t[i], 1e-9));
    }
  }
  return UpperMedian(slopes);
}

double Scatter(const std::vector<double>& t, const std::vector<float>& y, double slope) {
  std::vector<double> rest;
  for (std::size_t i = 0; i < t.size(); ++i)
    rest.push_back(static_cast<double>(y[i]) - slope * t[i]);
  const double center = UpperMedian(rest);
  for (double& value : rest) value = std::fabs(value - center);
  return UpperMedian(rest);
}

}  // namespace

Rise RiseOf(const std::vector<double>& t, const std::vector<float>& y) {
  Rise rise;
  for (std::size_t i = 1; i < y.size(); ++i) rise.rises += y[i] > y[i - 1] ? 1 : 0;
  if (rise.rises < kRisesMin) return rise;
  rise.slope = TheilSen(t, y);
  rise.growth = rise.slope * (t.back() - t.front());
  rise.straight = Scatter(t, y, rise.slope) < kStraight * rise.growth;
  return rise;
}

}  // namespace ringward::detect
