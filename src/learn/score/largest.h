#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ringward::learn {

/// Finds the few largest of many values. Keeps its memory from one call to the next.
class Largest {
 public:
  struct Entry {
    float value = 0.0F;
    std::int32_t index = 0;
  };

  /// The `count` largest of `values`, falling; of equal ones those that stand first. Leaves out
  /// index `without` (-1 = none). REQUIRES: so many are there. Valid until the next call.
  std::span<const Entry> Find(std::span<const float> values, std::int32_t without,
                              std::size_t count);

 private:
  void Exchange(std::span<const float> values, std::size_t first, std::size_t last,
                std::int32_t without);
  void Insert(Entry entry);

  std::vector<Entry> found_;
};

}  // namespace ringward::learn
