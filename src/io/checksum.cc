#include "io/checksum.h"

#include <zlib.h>

namespace ringward::io {

std::uint32_t Crc32(std::string_view bytes) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(crc32_z(0, data, bytes.size()));
}

}  // namespace ringward::io
