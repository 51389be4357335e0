#include "launch/program.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

namespace ringward::launch {
namespace {

constexpr std::size_t kFileBlock = std::size_t{1} << 20U;
constexpr std::string_view kElf(
    "\x7f"
    "ELF");
// As the dynamic section's strings hold it: whole, after a zero byte.
constexpr std::string_view kLibrary("\0libmpi.so", 10);

}  // namespace

bool LinksMpi(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  bool first = true;
  while (file) {
    // The end of the block before stays, in case the name is cut in two.
    if (bytes.size() >= kLibrary.size()) bytes.erase(0, bytes.size() - kLibrary.size() + 1);
    const std::size_t kept = bytes.size();
    bytes.resize(kept + kFileBlock);
    file.read(bytes.data() + kept, static_cast<std::streamsize>(kFileBlock));
    bytes.resize(kept + static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
    if (first && !std::string_view(bytes).starts_with(kElf)) return false;
    first = false;
    if (bytes.find(kLibrary) != std::string::npos) return true;
  }
  return false;
}

}  // namespace ringward::launch
