#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/random_access.h"

namespace ringward::io {

/// One file inside an archive, as its central directory describes it.
struct ZipMember {
  std::string name;
  std::uint64_t offset = 0;      ///< of its local header
  std::uint64_t compressed = 0;  ///< bytes in the archive
  std::uint64_t size = 0;        ///< bytes after decompression: a claim until read and checked
  std::uint32_t crc = 0;         ///< CRC-32 of the decompressed bytes
  std::uint16_t method = 0;      ///< 0 stored, 8 deflated; others cannot be read
};

/// Reads a zip archive (PKWARE APPNOTE 6.3: stored and deflated members, zip64). Everything in the
/// directory is checked against the archive's size before it is used; nothing is allocated by a
/// claimed size. Safe for concurrent use.
class ZipReader {
 public:
  /// kCorrupt naming the file when this is no intact archive.
  static Result<ZipReader> Open(std::shared_ptr<const RandomAccess> file);

  const std::vector<ZipMember>& members() const { return members_; }
  /// The member called `name`, or null.
  const ZipMember* Find(std::string_view name) const;
  /// A stream of the member's bytes; its last Read fails with kCorrupt unless length and CRC-32 are
  /// right. An encrypted member or an unknown method is kInvalidInput.
  Result<std::unique_ptr<ByteSource>> OpenMember(const ZipMember& member) const;

 private:
  explicit ZipReader(std::shared_ptr<const RandomAccess> file) : file_(std::move(file)) {}
  std::shared_ptr<const RandomAccess> file_;
  std::vector<ZipMember> members_;
};

}  // namespace ringward::io
