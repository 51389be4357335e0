#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace ringward::io {

/// `value` in `bytes` little-endian bytes.
inline std::string LittleEndian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
  return out;
}

struct TestMember {
  std::string name;
  std::string data;
  bool deflated = false;
  bool zip64 = false;  ///< sizes and offset in the extra field
  std::uint32_t crc_error = 0;
};

inline std::string Deflated(const std::string& data) {
  z_stream stream{};
  RINGWARD_CHECK(deflateInit2(&stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, static_cast<uLong>(data.size())), '\0');
  std::string in = data;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  RINGWARD_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A zip archive for tests, byte by byte (PKWARE APPNOTE 6.3).
inline std::string ZipBytes(const std::vector<TestMember>& members) {
  std::string archive;
  std::string directory;
  for (const TestMember& m : members) {
    const std::string body = m.deflated ? Deflated(m.data) : m.data;
    const auto* bytes = reinterpret_cast<const Bytef*>(m.data.data());
    const std::uint64_t crc = crc32_z(0, bytes, m.data.size()) ^ m.crc_error;
    const auto offset = static_cast<std::uint64_t>(archive.size());
    const auto size = [&](std::uint64_t n) { return LittleEndian(m.zip64 ? UINT32_MAX : n, 4); };
    const std::string extra = LittleEndian(1, 2) + LittleEndian(24, 2) +
                              LittleEndian(m.data.size(), 8) + LittleEndian(body.size(), 8) +
                              LittleEndian(offset, 8);
    const std::string shared = LittleEndian(m.deflated ? 8 : 0, 2) + LittleEndian(0, 4) +
                               LittleEndian(crc, 4) + size(body.size()) + size(m.data.size()) +
                               LittleEndian(m.name.size(), 2);
    archive += LittleEndian(0x04034b50, 4) + LittleEndian(20, 2) + LittleEndian(0, 2) + shared +
               LittleEndian(0, 2) + m.name + body;
    directory += LittleEndian(0x02014b50, 4) + LittleEndian(20, 2) + LittleEndian(20, 2) +
                 LittleEndian(0, 2) + shared + LittleEndian(m.zip64 ? extra.size() : 0, 2) +
                 LittleEndian(0, 2) + LittleEndian(0, 8) + size(offset) + m.name +
                 (m.zip64 ? extra : "");
  }
  return archive + directory + LittleEndian(0x06054b50, 4) + LittleEndian(0, 4) +
         LittleEndian(members.size(), 2) + LittleEndian(members.size(), 2) +
         LittleEndian(directory.size(), 4) + LittleEndian(archive.size(), 4) + LittleEndian(0, 2);
}

}  // namespace ringward::io
