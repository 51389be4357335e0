#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/byte_source.h"

namespace ringward::io {

/// Looks ahead into a source without losing what it saw, and reads exact amounts.
/// Not safe for concurrent use.
class BufferedSource final : public ByteSource {
 public:
  explicit BufferedSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  /// The next `n` bytes, fewer where the source ends before. Valid until the next call.
  Result<std::string_view> Peek(std::size_t n);
  /// Fills `out` or fails with kCorrupt ("ends early"), naming the file.
  Status ReadExactly(std::span<char> out);

  Result<std::size_t> Read(std::span<char> out) override;
  const std::string& name() const override { return source_->name(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string seen_;  ///< bytes read from the source and not yet handed out, from used_ on
  std::size_t used_ = 0;
};

}  // namespace ringward::io
