// What reading a peer's fields needs. For wire.cc and wire_sights.cc, the two sources with
// protozero in them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <protozero/pbf_builder.hpp>
#include <protozero/pbf_message.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/utf8.h"
#include "watch/source.h"

namespace ringward::watch::wire {

using protozero::pbf_wire_type;
using protozero::tag_and_type;

// Beyond these a time is nobody's: a hundred years.
inline constexpr std::int64_t kTimeMost = std::int64_t{100} * 366 * 24 * 3600 * 1'000'000'000;

template <typename Field>
constexpr std::uint32_t Varint(Field field) {
  return tag_and_type(field, pbf_wire_type::varint);
}
template <typename Field>
constexpr std::uint32_t Bytes(Field field) {
  return tag_and_type(field, pbf_wire_type::length_delimited);
}
template <typename Field>
constexpr std::uint32_t Fixed(Field field) {
  return tag_and_type(field, pbf_wire_type::fixed64);
}

inline Clock::Duration TimeOf(std::int64_t ns) {
  return Clock::Duration(std::clamp<std::int64_t>(ns, 0, kTimeMost));
}

/// Text of a peer, fit to be printed and of bounded length.
inline std::string TextOf(protozero::data_view view, std::size_t most) {
  std::string text(view.data(), std::min(view.size(), most));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t letter = Utf8Length(std::string_view(text).substr(at));
    const auto byte = static_cast<unsigned char>(text[at]);
    if (letter == 0 || byte < 0x20 || byte == 0x7f) text[at] = '?';
    at += std::max<std::size_t>(letter, 1);
  }
  return text;
}

/// As they are before they are compressed.
void WriteSights(std::string& out, std::span<const RankSight> sights);
/// Throws what protozero throws where the bytes are no message. Errors: kCorrupt.
Result<std::vector<RankSight>> ReadSights(std::string_view plain);

}  // namespace ringward::watch::wire
