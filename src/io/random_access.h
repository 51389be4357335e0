#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "io/byte_source.h"

namespace ringward::io {

/// Bytes that can be read at any place, from a file or from memory. Reading is thread-safe.
class RandomAccess {
 public:
  virtual ~RandomAccess() = default;
  virtual std::uint64_t size() const = 0;
  virtual const std::string& name() const = 0;
  /// Fills `out` from `offset` on; kCorrupt where the bytes end before.
  virtual Status ReadAt(std::uint64_t offset, std::span<char> out) const = 0;
};

/// Opens a regular file.
Result<std::shared_ptr<const RandomAccess>> OpenRandomAccess(const std::string& path);
std::shared_ptr<const RandomAccess> RandomAccessFromMemory(std::string bytes, std::string name);

/// A stream over bytes [offset, offset + size); shares the ownership of `file`, since streams of
/// several members of one archive outlive the reader that made them.
std::unique_ptr<ByteSource> Section(std::shared_ptr<const RandomAccess> file, std::uint64_t offset,
                                    std::uint64_t size);

}  // namespace ringward::io
