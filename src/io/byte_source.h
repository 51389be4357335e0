#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace ringward::io {

/// A stream of bytes read once, front to back. Not safe for concurrent use.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Reads what is there now, at most out.size() bytes, and returns how many; blocks only while
  /// nothing is there. 0 means the end (or an empty `out`). Errors name the file: kResource when
  /// the machine fails to read, kCorrupt when the bytes are not what they claim to be. A signal
  /// that asks the process to stop (base/interrupt.h) ends a read that waits: kInterrupted.
  virtual Result<std::size_t> Read(std::span<char> out) = 0;
  /// The file's name for messages; `<stdin>` for standard input.
  virtual const std::string& name() const = 0;
};

/// Opens a file, or standard input for "-", and undoes gzip or zstd where the first bytes say so
/// (any number of gzip members or zstd frames one after another). A missing file or a folder is
/// kInvalidInput, one that may not be read kResource.
Result<std::unique_ptr<ByteSource>> OpenInput(const std::string& path);

/// The same without decompression. Takes no ownership of standard input.
Result<std::unique_ptr<ByteSource>> OpenRawInput(const std::string& path);

/// A source over bytes it owns, called `name` in messages.
std::unique_ptr<ByteSource> FromMemory(std::string bytes, std::string name);

/// Everything that is left of `source`; kInvalidInput when that is more than `limit` bytes.
Result<std::string> ReadAll(ByteSource& source, std::size_t limit);

}  // namespace ringward::io
