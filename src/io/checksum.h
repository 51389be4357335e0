#pragma once

#include <cstdint>
#include <string_view>

namespace ringward::io {

/// CRC-32 of `bytes` as gzip and zip compute it (ISO 3309).
std::uint32_t Crc32(std::string_view bytes);

}  // namespace ringward::io
