#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "signal/event.h"

namespace ringward::recording {

// Arrays as blobs. A blob's first byte says what follows: 0, the bytes as they are; 1, one zstd
// frame of them. The bytes are planes: the first byte of every number, then the second of every
// number, and so on, little end first; alike bytes stand together, which is what zstd can use.

/// Packs arrays; keeps its buffers between calls. Not safe for concurrent use.
class Packer {
 public:
  Packer();
  ~Packer();
  Packer(Packer&&) noexcept;
  Packer& operator=(Packer&&) noexcept;

  /// Every bit of every value is kept. The result lives until the next call.
  Result<std::span<const std::byte>> Pack(std::span<const float> values);
  /// Events that all hold Progress; their numbers follow one another and are not in the blob.
  Result<std::span<const std::byte>> Pack(std::span<const signal::Event> progress);

 private:
  Result<std::span<const std::byte>> Compress();
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

/// Unpacks what Packer made, or says what is wrong with it: any bytes may be given. Keeps its
/// buffers between calls. Not safe for concurrent use.
class Unpacker {
 public:
  Unpacker();
  ~Unpacker();
  Unpacker(Unpacker&&) noexcept;
  Unpacker& operator=(Unpacker&&) noexcept;

  /// Fills `values`, whose size is the count that the row names. False: the blob does not hold
  /// exactly that many.
  bool Unpack(std::span<const std::byte> blob, std::span<float> values);
  /// Fills the Progress of `events`, and their times from `first` on; false as above, and where a
  /// value is out of its range or time goes back.
  bool Unpack(std::span<const std::byte> blob, signal::Time first, std::span<signal::Event> events);

 private:
  bool Decompress(std::span<const std::byte> blob, std::size_t size);
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace ringward::recording
