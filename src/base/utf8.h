#pragma once

#include <cstddef>
#include <string_view>

namespace ringward {

/// Bytes of the well-formed UTF-8 letter at the front of `text`, 0 where there is none (RFC 3629:
/// no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t Utf8Length(std::string_view text);

}  // namespace ringward
