#include "base/nearest_name.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace ringward {

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string NearestName(std::string_view name, std::span<const std::string> candidates) {
  constexpr std::size_t kLongestName = 64;  // keeps the square of hostile input small
  if (name.empty() || name.size() > kLongestName) return "";
  const std::size_t allowed = std::max<std::size_t>(1, name.size() / 3);
  std::size_t best = allowed + 1;
  std::string nearest;
  constexpr std::size_t kShortestPrefix = 3;
  for (const std::string& candidate : candidates) {
    if (name.size() >= kShortestPrefix && candidate.starts_with(name)) return candidate;
  }
  for (const std::string& candidate : candidates) {
    const std::size_t distance = EditDistance(name, candidate);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string DidYouMean(std::string_view name, std::span<const std::string> candidates,
                       std::string_view prefix) {
  const std::string nearest = NearestName(name, candidates);
  if (nearest.empty()) return "";
  return " (did you mean " + std::string(prefix) + nearest + "?)";
}

}  // namespace ringward
