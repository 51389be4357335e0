#include "io/csv_scanner.h"

#include <algorithm>
#include <bit>
#include <cstring>

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace ringward::io {
namespace {

/// The buffer starts small, because most pipes give little, and grows to this by full reads.
constexpr std::size_t kBufferMin = std::size_t{1} << 15;
constexpr std::size_t kBufferMax = std::size_t{1} << 20;

/// Appends the parts of `line` between delimiters to `fields`.
void Split(std::string_view line, char delimiter, std::vector<std::string_view>& fields) {
  const char* start = line.data();
  const char* const end = start + line.size();
  const char* p = start;
  const auto cut = [&](const char* at) {
    fields.emplace_back(start, static_cast<std::size_t>(at - start));
    start = at + 1;
  };
#ifdef __SSE2__
  const __m128i wanted = _mm_set1_epi8(delimiter);
  for (; end - p >= 16; p += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    auto hits = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted)));
    for (; hits != 0; hits &= hits - 1) cut(p + std::countr_zero(hits));
  }
#endif
  for (; p < end; ++p) {
    if (*p == delimiter) cut(p);
  }
  cut(end);
}

}  // namespace

CsvScanner::CsvScanner(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), buffer_(kBufferMin) {}

Error CsvScanner::Bad(std::size_t field, std::string_view what) const {
  return {Code::kInvalidInput, name() + ":" + std::to_string(record_line_) + ": field " +
                                   std::to_string(field + 1) + ": " + std::string(what)};
}

Status CsvScanner::CheckLineEnds(std::string_view bytes) const {
  // A CR in quotes is part of a field, and one at the end may have its LF yet to come.
  const bool all = eof_ || bytes.size() >= kBufferMax;
  if (!all || bytes.find('"') != std::string_view::npos) return Ok();
  if (bytes.find('\r') >= bytes.size() - std::min<std::size_t>(1, bytes.size())) return Ok();
  return Error(Code::kInvalidInput,
               name() + ": its lines end in CR only; save it with LF or CR LF at their ends");
}

Status CsvScanner::CheckLength(std::size_t bytes) const {
  if (bytes <= kRecordMax) return Ok();
  return Error(Code::kInvalidInput, name() + ":" + std::to_string(lines_ + 1) +
                                        ": a record longer than 16 MiB (an open quote, or not a "
                                        "text file?)");
}

Status CsvScanner::Fill(std::size_t record) {
  RINGWARD_TRY(CheckLength(end_ - record));
  const std::size_t from = keep_ ? 0 : at_;
  if (from > 0) {
    std::memmove(buffer_.data(), buffer_.data() + from, end_ - from);
    searched_ = std::max(searched_, at_) - from;
    at_ -= from;
    end_ -= from;
  }
  if (end_ == buffer_.size() || (full_ && buffer_.size() < kBufferMax)) {
    buffer_.resize(buffer_.size() * 2);
  }
  RINGWARD_ASSIGN(const std::size_t n, source_->Read(std::span(buffer_).subspan(end_)));
  end_ += n;
  full_ = end_ == buffer_.size();
  eof_ = n == 0;
  return Ok();
}

Result<CsvScanner::Got> CsvScanner::TryNext(std::vector<std::string_view>& fields) {
  while (at_ < end_) {
    const char* const start = buffer_.data() + at_;
    const char* const stop = buffer_.data() + end_;
    const char* const from = buffer_.data() + std::max(at_, searched_);
    const auto* lf =
        static_cast<const char*>(std::memchr(from, '\n', static_cast<std::size_t>(stop - from)));
    if (lf == nullptr && !eof_) {
      searched_ = end_;
      return Got::kNeedMore;
    }
    const char* line_end = lf == nullptr ? stop : lf;
    if (std::memchr(start, '"', static_cast<std::size_t>(line_end - start)) != nullptr) {
      return TryQuoted(fields);
    }
    RINGWARD_TRY(CheckLength(static_cast<std::size_t>(line_end - start)));
    at_ = std::min(end_, static_cast<std::size_t>(line_end - buffer_.data()) + 1);
    record_line_ = ++lines_;
    if (line_end > start && line_end[-1] == '\r') --line_end;
    if (line_end == start) continue;
    fields.clear();
    Split({start, static_cast<std::size_t>(line_end - start)}, delimiter_, fields);
    return Got::kRecord;
  }
  return eof_ ? Got::kEnd : Got::kNeedMore;
}

/// One field after another. A quote opens a quoted field only at the field's start; inside others
/// it is a letter. The record may need bytes that are not here yet; then nothing is consumed.
Result<CsvScanner::Got> CsvScanner::TryQuoted(std::vector<std::string_view>& fields) {
  unquoted_.clear();
  ends_.clear();
  record_line_ = lines_ + 1;
  std::uint64_t line_ends = 0;
  std::size_t p = at_;
  bool done = false;
  while (!done) {
    if (p < end_ && buffer_[p] == '"') {
      for (++p;; ++p) {
        if (p == end_ && eof_) return Bad(ends_.size(), "a quote is opened and never closed");
        if (p == end_ || (p + 1 == end_ && !eof_)) return Got::kNeedMore;
        if (buffer_[p] == '"' && (p + 1 == end_ || buffer_[p + 1] != '"')) break;
        if (buffer_[p] == '"') ++p;
        if (buffer_[p] == '\n') ++line_ends;
        unquoted_.push_back(buffer_[p]);
      }
      for (++p; p < end_ && (buffer_[p] == ' ' || buffer_[p] == '\r'); ++p) {
      }
      if (p < end_ && buffer_[p] != delimiter_ && buffer_[p] != '\n') {
        return Bad(ends_.size(), "text behind a closing quote");
      }
    } else {
      for (; p < end_ && buffer_[p] != delimiter_ && buffer_[p] != '\n'; ++p) {
        unquoted_.push_back(buffer_[p]);
      }
      const bool at_line_end = p == end_ || buffer_[p] == '\n';
      const std::size_t begin = ends_.empty() ? 0 : ends_.back();
      if (at_line_end && unquoted_.size() > begin && unquoted_.back() == '\r') unquoted_.pop_back();
    }
    if (p == end_ && !eof_) return Got::kNeedMore;
    ends_.push_back(unquoted_.size());
    done = p == end_ || buffer_[p] == '\n';
    ++p;
  }
  RINGWARD_TRY(CheckLength(p - 1 - at_));
  at_ = std::min(p, end_);
  lines_ += line_ends + 1;
  fields.clear();
  for (std::size_t i = 0, begin = 0; i < ends_.size(); begin = ends_[i++]) {
    fields.push_back(std::string_view(unquoted_).substr(begin, ends_[i] - begin));
  }
  return Got::kRecord;
}

Result<bool> CsvScanner::Next(std::vector<std::string_view>& fields) {
  while (true) {
    RINGWARD_ASSIGN(const Got got, TryNext(fields));
    if (got != Got::kNeedMore) return got == Got::kRecord;
    RINGWARD_TRY(Fill());
  }
}

Result<std::string> CsvScanner::PeekLine(int n) {
  RINGWARD_CHECK(keep_);
  while (true) {
    std::string_view bytes(buffer_.data(), end_);
    if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) {
      return Error(Code::kInvalidInput, name() + ": is UTF-16 text; save it as UTF-8");
    }
    if (bytes.starts_with("\xef\xbb\xbf")) at_ = begin_ = searched_ = 3;
    bytes.remove_prefix(begin_);
    int line = 0;
    std::size_t start = 0;
    for (std::size_t lf = 0; (lf = bytes.find('\n', start)) != std::string_view::npos;) {
      const std::string_view text = bytes.substr(start, lf - start);
      const bool is_empty = text.empty() || text == "\r";
      if (!is_empty && line++ == n) return std::string(text);
      start = lf + 1;
    }
    if (bytes.find('\n') == std::string_view::npos) RINGWARD_TRY(CheckLineEnds(bytes));
    if (eof_) return std::string(line == n ? bytes.substr(start) : std::string_view());
    RINGWARD_TRY(Fill(begin_ + start));
  }
}

void CsvScanner::Rewind() {
  RINGWARD_CHECK(keep_);
  at_ = begin_;
  searched_ = begin_;
  lines_ = 0;
}

}  // namespace ringward::io
