#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ringward {

/// Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment distance; O(|a| |b|) time). Bytes, not letters.
std::size_t EditDistance(std::string_view a, std::string_view b);

/// The candidate that `name` was probably meant to be, or "" where none is close: at most a third
/// of its letters (at least one) may differ. Ties go to the earlier candidate.
std::string NearestName(std::string_view name, std::span<const std::string> candidates);

/// " (did you mean X?)" or "", to be appended to an error. `prefix` goes before X.
std::string DidYouMean(std::string_view name, std::span<const std::string> candidates,
                       std::string_view prefix = "");

}  // namespace ringward
