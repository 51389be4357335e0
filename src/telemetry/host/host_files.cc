#include "telemetry/host/host_files.h"

#include <algorithm>
#include <charconv>

namespace ringward::telemetry {
namespace {

constexpr std::size_t kCoresMost = 1 << 16;

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

/// Cuts the text in front of `separator` off, and the separator.
std::string_view Cut(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view front = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return front;
}

std::string_view Word(std::string_view& line) {
  while (!line.empty() && IsBlank(line.front())) line.remove_prefix(1);
  std::size_t end = 0;
  while (end < line.size() && !IsBlank(line[end])) ++end;
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

std::optional<std::uint64_t> Whole(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

/// The blank-separated numbers of a line, up to the first word that is none.
std::vector<std::uint64_t> Numbers(std::string_view line) {
  std::vector<std::uint64_t> numbers;
  while (const auto value = Whole(Word(line))) numbers.push_back(*value);
  return numbers;
}

std::string Visible(std::string_view path) {
  const bool seen = path.starts_with('/') && path.find("/..") == std::string_view::npos;
  return std::string(seen ? path : "/");
}

/// Whether the mount holds the path, as whole components.
bool Holds(std::string_view mount, std::string_view path) {
  if (mount == "/") return path.starts_with('/');
  return path.starts_with(mount) && (path.size() == mount.size() || path[mount.size()] == '/');
}

}  // namespace

std::optional<std::uint64_t> NumberOf(std::string_view text, std::string_view key) {
  while (!text.empty() && !key.empty()) {
    std::string_view line = Cut(text, '\n');
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (key.back() == ':' || (!line.empty() && IsBlank(line.front()))) return Whole(Word(line));
  }
  return std::nullopt;
}

std::optional<std::uint64_t> LeadingNumber(std::string_view text) {
  std::string_view line = Cut(text, '\n');
  return Whole(Word(line));
}

std::vector<CoreTimes> ParseCores(std::string_view text) {
  std::vector<CoreTimes> cores;
  while (!text.empty()) {
    std::string_view line = Cut(text, '\n');
    if (!line.starts_with("cpu")) break;  // the cores come first
    const auto core = Whole(Word(line).substr(3));
    const std::vector<std::uint64_t> ticks = Numbers(line);
    // user nice system idle iowait irq softirq steal; guests are in user and nice.
    if (!core || *core >= kCoresMost || ticks.size() < 8) continue;
    cores.push_back({.core = static_cast<std::uint32_t>(*core),
                     .busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6],
                     .idle = ticks[3],
                     .iowait = ticks[4],
                     .steal = ticks[7]});
  }
  return cores;
}

std::optional<ProcessTimes> ParseProcess(std::string_view text) {
  // The name in parentheses may hold anything, parentheses and line ends too.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(name_end + 1);
  rest = Cut(rest, '\n');
  std::vector<std::string_view> fields(3);  // numbered as in proc(5), from 1
  while (!rest.empty()) fields.push_back(Word(rest));
  constexpr std::size_t kCore = 39;
  if (fields.size() <= kCore) return std::nullopt;
  const auto faults = Whole(fields[12]);
  const auto user = Whole(fields[14]);
  const auto system = Whole(fields[15]);
  const auto threads = Whole(fields[20]);
  const auto rss = Whole(fields[24]);
  const auto core = Whole(fields[kCore]);
  if (!faults || !user || !system || !threads || !rss || !core || *core >= kCoresMost)
    return std::nullopt;
  return ProcessTimes{
      .major_faults = *faults,
      .cpu_ticks = *user + *system,
      .threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(*threads, UINT32_MAX)),
      .rss_pages = *rss,
      .core = static_cast<std::uint32_t>(*core)};
}

std::optional<ThreadTimes> ParseSchedstat(std::string_view text) {
  const std::vector<std::uint64_t> numbers = Numbers(Cut(text, '\n'));
  if (numbers.size() < 3) return std::nullopt;  // run, wait, slices
  return ThreadTimes{numbers[0], numbers[1], numbers[2]};
}

std::optional<std::uint64_t> ParsePressure(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = Cut(text, '\n');
    if (Word(line) != "some") continue;
    constexpr std::string_view kTotal = "total=";
    while (!line.empty()) {
      const std::string_view word = Word(line);
      if (word.starts_with(kTotal)) return Whole(word.substr(kTotal.size()));
    }
  }
  return std::nullopt;
}

std::optional<LinkCounts> ParseLinks(std::string_view text) {
  LinkCounts counts;
  bool any = false;
  while (!text.empty()) {
    std::string_view line = Cut(text, '\n');
    if (line.find(':') == std::string_view::npos) continue;  // the header
    std::string_view name = Cut(line, ':');
    const std::vector<std::uint64_t> numbers = Numbers(line);
    if (numbers.size() < 16) continue;  // eight each way: bytes packets errors drops …
    any = true;
    if (Word(name) == "lo") continue;
    counts.bytes += numbers[0] + numbers[8];
    counts.errors += numbers[2] + numbers[3] + numbers[10] + numbers[11];
  }
  if (!any) return std::nullopt;
  return counts;
}

std::optional<std::uint64_t> ParseRetransmits(std::string_view text) {
  // Two lines of a protocol: the names, and the numbers under them (one of which may be negative).
  std::vector<std::string_view> names;
  while (!text.empty()) {
    std::string_view line = Cut(text, '\n');
    if (Word(line) != "Tcp:") continue;
    std::vector<std::string_view> words;
    while (!line.empty()) words.push_back(Word(line));
    if (names.empty()) {
      names = std::move(words);
      continue;
    }
    const auto found = std::find(names.begin(), names.end(), "RetransSegs") - names.begin();
    const auto at = static_cast<std::size_t>(found);
    return at < std::min(names.size(), words.size()) ? Whole(words[at]) : std::nullopt;
  }
  return std::nullopt;
}

CgroupPaths ParseCgroups(std::string_view text) {
  CgroupPaths paths;
  while (!text.empty()) {
    std::string_view line = Cut(text, '\n');
    const std::string_view number = Cut(line, ':');
    std::string_view controllers = Cut(line, ':');
    if (line.empty()) continue;
    if (number == "0" && controllers.empty()) paths.unified = Visible(line);
    while (!controllers.empty()) {
      if (Cut(controllers, ',') == "memory") paths.memory_v1 = Visible(line);
    }
  }
  return paths;
}

std::string FileSystemOf(std::string_view mountinfo, std::string_view path) {
  std::string_view best_mount;
  std::string_view best;
  while (!mountinfo.empty()) {
    std::string_view line = Cut(mountinfo, '\n');
    for (int field = 0; field < 4; ++field) Word(line);
    const std::string_view mount = Word(line);
    // Any number of optional fields stand before the dash.
    while (!line.empty() && Word(line) != "-") {
    }
    const std::string_view kind = Word(line);
    // Of two at one place the later hides the earlier.
    const bool better = !kind.empty() && Holds(mount, path) && mount.size() >= best_mount.size();
    if (better) {
      best_mount = mount;
      best = kind;
    }
  }
  return std::string(best);
}

}  // namespace ringward::telemetry
