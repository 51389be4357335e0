#include "learn/score/largest.h"

#include <algorithm>

#include "base/check.h"

namespace ringward::learn {
namespace {

/// Values that one test passes over.
constexpr std::size_t kStrip = 16;

/// Without branches, so that it runs in vectors.
bool AnyAbove(std::span<const float, kStrip> values, float limit) {
  int above = 0;
  for (const float value : values) above |= value > limit ? 1 : 0;
  return above != 0;
}

}  // namespace

std::span<const Largest::Entry> Largest::Find(std::span<const float> values, std::int32_t without,
                                              std::size_t count) {
  RINGWARD_CHECK(count + (without < 0 ? 0 : 1) <= values.size());
  found_.clear();
  if (count == 0) return found_;
  std::size_t next = 0;
  for (; found_.size() < count; ++next) {
    const auto index = static_cast<std::int32_t>(next);
    if (index != without) Insert({values[next], index});
  }
  // Soon few strips hold a value that belongs to the largest so far: most cost one test.
  for (; next + kStrip <= values.size(); next += kStrip) {
    if (!AnyAbove(values.subspan(next).first<kStrip>(), found_.back().value)) continue;
    Exchange(values, next, next + kStrip, without);
  }
  Exchange(values, next, values.size(), without);
  return found_;
}

/// Lets those of values[first, last) that are larger take the place of the smallest found.
void Largest::Exchange(std::span<const float> values, std::size_t first, std::size_t last,
                       std::int32_t without) {
  for (std::size_t i = first; i < last; ++i) {
    const auto index = static_cast<std::int32_t>(i);
    if (!(values[i] > found_.back().value) || index == without) continue;
    found_.pop_back();
    Insert({values[i], index});
  }
}

void Largest::Insert(Entry entry) {
  const auto after = std::find_if(found_.begin(), found_.end(),
                                  [&](const Entry& other) { return entry.value > other.value; });
  found_.insert(after, entry);
}

}  // namespace ringward::learn
