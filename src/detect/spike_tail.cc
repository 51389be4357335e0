#include "detect/spike_tail.h"

#include <algorithm>
#include <cmath>

namespace ringward::detect {

double SpikeTail::Level(double values, double expected) const {
  std::vector<float> sorted(differences_.values().begin(), differences_.values().end());
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  const std::size_t start = sorted.size() * 4 / 5;
  const auto threshold = static_cast<double>(sorted[start]);
  double beyond = 0.0;
  for (std::size_t i = start; i < sorted.size(); ++i) {
    beyond += static_cast<double>(sorted[i]) - threshold;
  }
  const double tail = n - static_cast<double>(start);
  // The mean of few exceedances is uncertain by its square root: taken two deviations larger.
  const double scale = beyond / tail * (1.0 + 2.0 / std::sqrt(tail));
  const double share = tail / n;
  return threshold + scale * std::log(std::max(values * share / expected, 2.0));
}

}  // namespace ringward::detect
