#include "io/buffered_source.h"

#include <algorithm>
#include <cstring>

namespace ringward::io {

Result<std::string_view> BufferedSource::Peek(std::size_t n) {
  seen_.erase(0, used_);
  used_ = 0;
  while (seen_.size() < n) {
    const std::size_t before = seen_.size();
    seen_.resize(n);
    auto got = source_->Read(std::span(seen_).subspan(before));
    seen_.resize(before + (got ? *got : 0));
    if (!got) return std::move(got).error();
    if (*got == 0) break;
  }
  return std::string_view(seen_).substr(0, n);
}

Result<std::size_t> BufferedSource::Read(std::span<char> out) {
  if (used_ == seen_.size()) return source_->Read(out);
  const std::size_t n = std::min(out.size(), seen_.size() - used_);
  std::memcpy(out.data(), seen_.data() + used_, n);
  used_ += n;
  return n;
}

Status BufferedSource::ReadExactly(std::span<char> out) {
  while (!out.empty()) {
    RINGWARD_ASSIGN(const std::size_t n, Read(out));
    if (n == 0) {
      return Error(Code::kCorrupt,
                   name() + ": ends early, " + std::to_string(out.size()) + " bytes are missing");
    }
    out = out.subspan(n);
  }
  return Ok();
}

}  // namespace ringward::io
