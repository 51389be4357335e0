#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringward::ingest {

/// Higher numbers are taken for something else than a rank.
inline constexpr std::int32_t kTagRankMost = (1 << 17) - 1;

/// The rank that a file is of, by its name or its folder's: `rank3.log`, `rank-3.log`,
/// `rank.3/stdout`, `worker_3.err`, `attempt_0/3/stderr.log` (torchrun). -1: of none, or of all.
std::int32_t RankOfFile(std::string_view path);

/// A line without what launchers and terminals put into it.
struct TaggedLine {
  std::int32_t rank = -1;  ///< -1: not told
  std::string text;
};

/// Tells whose a line is, and takes off the tags:
///   `[1,3]<stdout>:` and `[3]<stderr>:` (mpirun --tag-output, horovodrun), with or without the
///   time before it; they may stand anywhere in a line, and more than once: the first counts;
///   `[default3]:` (torchrun: the rank on its host), `[rank3]:`;
///   `[3] ` (ringward run) and `3: ` (srun --label), which could be the line's own: only where the
///   file's first line has the same, and no other tag was seen.
/// Colours of terminals and bytes 0 are taken off, too; bytes that are no UTF-8 become '?'. Not
/// safe for concurrent use.
class TagReader {
 public:
  /// `rank` of the whole file; -1: lines tell.
  explicit TagReader(std::int32_t rank = -1) : file_rank_(rank) {}
  TaggedLine Read(std::string_view line);
  void Restart() { style_ = Style::kOpen; }

 private:
  enum class Style : std::uint8_t { kOpen, kNone, kStream, kName, kBracket, kColon };
  /// The rank of a tag at the front, which is taken off; -1: there is none.
  static std::int32_t TakeFront(Style style, std::string_view& text);

  std::int32_t file_rank_;
  Style style_ = Style::kOpen;
};

}  // namespace ringward::ingest
