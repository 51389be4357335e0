#include "ringward/cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace ringward::cli {
namespace {

/// Headings in the order of `ringward --help`; a group that is not here comes last.
constexpr std::array<const char*, 2> kGroups = {"Models", "Tools"};

std::vector<std::string> GroupOrder(const Registry& registry) {
  std::vector<std::string> order(kGroups.begin(), kGroups.end());
  for (const auto& entry : registry.entries()) {
    if (std::find(order.begin(), order.end(), entry.info.group) == order.end()) {
      order.push_back(entry.info.group);
    }
  }
  return order;
}

std::string Indented(const std::string& text) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += "  " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

std::string Listing(const Registry& registry, const std::string& group, const std::string& prefix) {
  std::string out;
  for (const auto& entry : registry.entries()) {
    if (!group.empty() && entry.info.group != group) continue;
    if (!entry.info.path.starts_with(prefix)) continue;
    out += fmt::format("  {:<18} {}\n", entry.info.path, entry.info.summary);
  }
  return out;
}

std::string ExitCodes(const SubcommandInfo& info) {
  std::map<int, std::string> codes = {
      {kExitFine, "fine"},
      {kExitBadInput, "bad usage or bad input; one line on standard error says which"},
      {kExitCouldNotRun, "could not run (resource, peer, engine)"},
      {kExitInterrupted, "interrupted"}};
  for (const auto& [code, meaning] : info.exit_codes) codes[code] = meaning;
  std::string out;
  for (const auto& [code, meaning] : codes) out += fmt::format("  {:<4} {}\n", code, meaning);
  return out;
}

}  // namespace

std::string VersionText() { return "ringward " RINGWARD_VERSION; }

std::string ProgramHelp(const Registry& registry) {
  std::string out =
      "ringward trains anomaly detectors on many processes and scores data with them.\n\n"
      "Usage: ringward SUBCOMMAND [options]\n";
  for (const std::string& group : GroupOrder(registry)) {
    const std::string listing = Listing(registry, group, "");
    if (!listing.empty()) out += "\n" + group + ":\n" + listing;
  }
  const auto& entries = registry.entries();
  if (!entries.empty()) out += "\nExample:\n" + Indented(entries.front().info.example);
  out +=
      "\n`ringward SUBCOMMAND --help` explains one of them; `ringward --version` tells the "
      "version.\n"
      "Exit codes: 0 fine, 1 found what it looks for, 2 bad usage or input, 3 could not run, "
      "130 interrupted.\n";
  return out;
}

std::string FamilyHelp(const Registry& registry, const std::string& family) {
  return fmt::format(
      "Usage: ringward {} SUBCOMMAND [options]\n\n{}\n`ringward {} SUBCOMMAND --help` explains "
      "one.\n",
      family, Listing(registry, "", family + " "), family);
}

std::string SubcommandHelp(const BoundSubcommand& bound, std::size_t width) {
  const SubcommandInfo info = bound.subcommand->Info();
  std::string out = fmt::format("ringward {}: {}\n\nUsage: ringward {} {}\n", info.path,
                                info.summary, info.path, bound.options.Usage());
  if (!info.details.empty()) out += "\n" + info.details + "\n";
  out += "\n" + bound.options.Help(width);
  out += "\nExample:\n" + Indented(info.example);
  out += "\nExit codes:\n" + ExitCodes(info);
  return out;
}

}  // namespace ringward::cli
