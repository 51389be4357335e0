#include "ringward/recording_file.h"

#include <array>
#include <string_view>

#include "io/byte_source.h"

namespace ringward::cli {

Result<bool> IsRecording(const std::string& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  if (path == "-") return false;
  RINGWARD_ASSIGN(const auto source, io::OpenRawInput(path));
  std::array<char, kMagic.size()> begin{};
  RINGWARD_ASSIGN(const std::size_t got, source->Read(begin));
  return std::string_view(begin.data(), got) == kMagic;
}

}  // namespace ringward::cli
