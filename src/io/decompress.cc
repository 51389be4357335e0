#include "io/decompress.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "io/buffered_source.h"

namespace ringward::io {
namespace {

constexpr std::size_t kInputChunk = std::size_t{1} << 16;
/// zlib and zstd count in 32 bits or less here; one call never gives more than this.
constexpr std::size_t kOutputMax = std::size_t{1} << 24;

/// What every decompressor shares: compressed bytes in a buffer, and the words for failures.
class Compressed {
 public:
  explicit Compressed(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), buffer_(kInputChunk) {}
  const std::string& name() const { return source_->name(); }
  std::span<const char> bytes() const { return std::span(buffer_).subspan(used_, size_ - used_); }
  void Use(std::size_t n) { used_ += n; }
  /// Reads more when all is used; false at the end.
  Result<bool> Fill() {
    if (used_ < size_) return true;
    RINGWARD_ASSIGN(size_, source_->Read(buffer_));
    used_ = 0;
    return size_ > 0;
  }
  Error Bad(std::string_view format, std::string_view what) const {
    return {Code::kCorrupt, name() + ": " + std::string(format) + " data " + std::string(what)};
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t used_ = 0;
  std::size_t size_ = 0;
};

/// zlib's inflate; `window_bits` chooses raw deflate (-15) or gzip (15 + 16).
class Inflater {
 public:
  explicit Inflater(int window_bits) { ready_ = inflateInit2(&stream_, window_bits) == Z_OK; }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  bool ready() const { return ready_; }
  void Restart() { inflateReset(&stream_); }

  struct Step {
    int code;
    std::size_t used, made;
  };
  Step Run(std::span<const char> in, std::span<char> out) {
    // zlib's field is not const, yet it never writes to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(std::min(out.size(), kOutputMax));
    const std::size_t room = stream_.avail_out;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    return {code, in.size() - stream_.avail_in, room - stream_.avail_out};
  }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> source) : in_(std::move(source)) {}
  const std::string& name() const override { return in_.name(); }

  Result<std::size_t> Read(std::span<char> out) override {
    if (!inflater_.ready()) return Error(Code::kResource, name() + ": no memory to decompress");
    while (!out.empty()) {
      RINGWARD_ASSIGN(const bool more, in_.Fill());
      if (!more) {
        if (between_) return std::size_t{0};
        return in_.Bad("gzip", "ends early");
      }
      if (between_) {
        if (in_.bytes()[0] == '\0') {  // tapes and some tools pad with zeros
          in_.Use(1);
          continue;
        }
        inflater_.Restart();
        between_ = false;
      }
      const auto step = inflater_.Run(in_.bytes(), out);
      in_.Use(step.used);
      if (step.code == Z_STREAM_END) {
        between_ = true;
      } else if (step.code != Z_OK && step.code != Z_BUF_ERROR) {
        return in_.Bad("gzip", "is damaged");
      }
      if (step.made > 0) return step.made;
    }
    return std::size_t{0};
  }

 private:
  Compressed in_;
  Inflater inflater_{15 + 16};
  bool between_ = false;  ///< at the end of a member
};

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> source)
      : in_(std::move(source)), stream_(ZSTD_createDStream()) {}
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;
  const std::string& name() const override { return in_.name(); }

  Result<std::size_t> Read(std::span<char> out) override {
    if (stream_ == nullptr) return Error(Code::kResource, name() + ": no memory to decompress");
    while (!out.empty()) {
      // The decoder may hold output it had no room for, so an empty input is no end by itself.
      RINGWARD_ASSIGN(const bool more, in_.Fill());
      if (!more && between_) return std::size_t{0};
      const auto bytes = more ? in_.bytes() : std::span<const char>();
      ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
      ZSTD_outBuffer output{out.data(), out.size(), 0};
      const std::size_t hint = ZSTD_decompressStream(stream_, &output, &input);
      if (ZSTD_isError(hint) != 0) return in_.Bad("zstd", "is damaged");
      in_.Use(input.pos);
      between_ = hint == 0;
      if (output.pos > 0) return output.pos;
      if (!more && !between_) return in_.Bad("zstd", "ends early");
    }
    return std::size_t{0};
  }

 private:
  Compressed in_;
  ZSTD_DStream* stream_;  ///< owned; C library
  bool between_ = false;  ///< at the end of a frame
};

/// Counts and sums what passes; the promise is the size and CRC-32 of a zip directory.
class Promise {
 public:
  Promise(std::uint64_t size, std::uint32_t crc) : left_(size), crc_(crc) {}
  std::uint64_t left() const { return left_; }
  void Pass(std::span<const char> bytes) {
    sum_ = crc32_z(sum_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    left_ -= bytes.size();
  }
  bool Kept() const { return left_ == 0 && sum_ == crc_; }

 private:
  std::uint64_t left_;
  std::uint32_t crc_;
  uLong sum_ = 0;
};

class DeflateSource final : public ByteSource {
 public:
  DeflateSource(std::unique_ptr<ByteSource> source, std::uint64_t size, std::uint32_t crc)
      : in_(std::move(source)), promise_(size, crc) {}
  const std::string& name() const override { return in_.name(); }

  Result<std::size_t> Read(std::span<char> out) override {
    if (!inflater_.ready()) return Error(Code::kResource, name() + ": no memory to decompress");
    while (!done_ && !out.empty()) {
      RINGWARD_ASSIGN(const bool more, in_.Fill());
      if (!more) return in_.Bad("zip member", "ends early");
      const auto step = inflater_.Run(in_.bytes(), out);
      in_.Use(step.used);
      if (step.code != Z_OK && step.code != Z_STREAM_END && step.code != Z_BUF_ERROR) {
        return in_.Bad("zip member", "is damaged");
      }
      if (step.made > promise_.left()) return in_.Bad("zip member", "is longer than it says");
      promise_.Pass(out.first(step.made));
      done_ = step.code == Z_STREAM_END;
      if (done_ && !promise_.Kept()) return in_.Bad("zip member", "fails its checksum");
      if (step.made > 0) return step.made;
    }
    return std::size_t{0};
  }

 private:
  Compressed in_;
  Inflater inflater_{-15};
  Promise promise_;
  bool done_ = false;
};

class StoredSource final : public ByteSource {
 public:
  StoredSource(std::unique_ptr<ByteSource> source, std::uint64_t size, std::uint32_t crc)
      : source_(std::move(source)), promise_(size, crc) {}
  const std::string& name() const override { return source_->name(); }

  Result<std::size_t> Read(std::span<char> out) override {
    const std::size_t want = static_cast<std::size_t>(
        std::min<std::uint64_t>({out.size(), promise_.left(), kOutputMax}));
    RINGWARD_ASSIGN(const std::size_t n, source_->Read(out.first(want)));
    if (n == 0 && want > 0) return Error(Code::kCorrupt, name() + ": zip member data ends early");
    promise_.Pass(out.first(n));
    if (promise_.left() == 0 && !promise_.Kept()) {
      return Error(Code::kCorrupt, name() + ": zip member data fails its checksum");
    }
    return n;
  }

 private:
  std::unique_ptr<ByteSource> source_;
  Promise promise_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> Decompress(std::unique_ptr<ByteSource> source) {
  auto buffered = std::make_unique<BufferedSource>(std::move(source));
  RINGWARD_ASSIGN(const std::string_view magic, buffered->Peek(4));
  using Pointer = std::unique_ptr<ByteSource>;
  if (magic.starts_with("\x1f\x8b"))
    return Pointer(std::make_unique<GzipSource>(std::move(buffered)));
  const bool skippable = magic.size() == 4 &&
                         (static_cast<unsigned char>(magic[0]) & 0xF0) == 0x50 &&
                         magic.substr(1) == "\x2a\x4d\x18";
  if (magic == "\x28\xb5\x2f\xfd" || skippable) {
    return Pointer(std::make_unique<ZstdSource>(std::move(buffered)));
  }
  return Pointer(std::move(buffered));
}

std::unique_ptr<ByteSource> InflateRaw(std::unique_ptr<ByteSource> source, std::uint64_t size,
                                       std::uint32_t crc) {
  return std::make_unique<DeflateSource>(std::move(source), size, crc);
}

std::unique_ptr<ByteSource> CheckStored(std::unique_ptr<ByteSource> source, std::uint64_t size,
                                        std::uint32_t crc) {
  return std::make_unique<StoredSource>(std::move(source), size, crc);
}

}  // namespace ringward::io
