#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ringward {

/// Bytes of the well-formed UTF-8 letter at the front of `text`, 0 where there is none (RFC 3629:
/// no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t Utf8Length(std::string_view text);

/// Any bytes as printable UTF-8, for formats that hold nothing else: '%' and bytes that are no
/// printable UTF-8 become %XX.
std::string EscapeBytes(std::string_view text);
/// The bytes that EscapeBytes was given.
std::string UnescapeBytes(std::string_view text);

}  // namespace ringward
