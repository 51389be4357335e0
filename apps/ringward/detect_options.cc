#include "ringward/detect_options.h"

#include <algorithm>

#include "detect/rules.h"
#include "io/byte_source.h"

namespace ringward::cli {
namespace {

constexpr std::size_t kRulesBytesMost = std::size_t{1} << 20U;

}  // namespace

void AddRulesFileOption(OptionTable& table, std::string& file) {
  table
      .Add("rules", &file, {.what = "a file", .allow_empty = true},
           "rules as TOML: the options above, and limits of your own")
      .Complete(Completion::kFile);
}

Result<detect::DetectOptions> ReadRules(const std::string& file,
                                        const detect::DetectOptions& given) {
  if (file.empty()) return given;
  RINGWARD_ASSIGN(const auto source, io::OpenInput(file));
  RINGWARD_ASSIGN(const std::string text, io::ReadAll(*source, kRulesBytesMost));
  return detect::ParseRules(text, file, given);
}

bool GivesRules(const OptionTable& table) {
  detect::DetectOptions options;
  OptionTable rules;
  detect::AddRuleOptions(rules, options);
  return table.WasSet("rules") ||
         std::any_of(rules.options().begin(), rules.options().end(),
                     [&](const Option& rule) { return table.WasSet(rule.name()); });
}

}  // namespace ringward::cli
