// Any text in the files of /proc and /sys: every parser ends in a value within its range or in
// none.
#include "telemetry/host/host_files.h"

#include <cstdint>
#include <string_view>

#include "base/check.h"

using namespace ringward::telemetry;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const CoreTimes& core : ParseCores(text)) RINGWARD_CHECK(core.core < (1U << 16U));
  if (const auto process = ParseProcess(text)) RINGWARD_CHECK(process->core < (1U << 16U));
  (void)ParseSchedstat(text);
  (void)ParsePressure(text);
  (void)ParseLinks(text);
  (void)ParseRetransmits(text);
  (void)LeadingNumber(text);
  // The first line is the key, or the path.
  const std::string_view key = text.substr(0, text.find('\n'));
  const std::string_view rest = text.substr(key.size());
  (void)NumberOf(rest, key);
  (void)FileSystemOf(rest, key);
  const CgroupPaths paths = ParseCgroups(text);
  for (const auto& path : {paths.unified, paths.memory_v1})
    RINGWARD_CHECK(path.empty() || (path.front() == '/' && path.find("/..") == std::string::npos));
  return 0;
}
