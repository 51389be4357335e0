#pragma once

#include <cstdint>
#include <memory>

#include "io/byte_source.h"

namespace ringward::io {

/// Undoes gzip (RFC 1952, several members) or zstd (RFC 8878, several and skippable frames) where
/// the first bytes of `source` say so; other bytes pass unchanged. Truncated or damaged data is
/// kCorrupt, naming the file; so are bytes behind the last member that start no other.
Result<std::unique_ptr<ByteSource>> Decompress(std::unique_ptr<ByteSource> source);

/// Undoes one raw deflate stream (RFC 1951) that must give `size` bytes with CRC-32 `crc`;
/// anything else is kCorrupt. Never reads or gives more than it must.
std::unique_ptr<ByteSource> InflateRaw(std::unique_ptr<ByteSource> source, std::uint64_t size,
                                       std::uint32_t crc);

/// Passes bytes on and checks their number and CRC-32 at the end, like InflateRaw.
std::unique_ptr<ByteSource> CheckStored(std::unique_ptr<ByteSource> source, std::uint64_t size,
                                        std::uint32_t crc);

}  // namespace ringward::io
